// `sir import llama-swap`: what it writes compiles, is formatted, is accepted and serves; what it prints names file and
// line; its exit status says whether something was left out.

import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { answering, ENGINES } from "../discovery/fakes.ts";
import { serve, tempFolder as servingFolder } from "../e2e/process.ts";
import { examined, formatted, tempFolder, typeFaults } from "./generated.ts";
import { terminal } from "./terminal.ts";

const files = fileURLToPath(new URL("../llama-swap/files/", import.meta.url));
const engine = fileURLToPath(new URL("../backends/engines/vllm-shaped.mjs", import.meta.url));
const names = readdirSync(files);
const NEEDED = { WEIGHTS_DIR: "/w", HF_TOKEN: "t", HOME: "/h" };

async function imported(name: string, ...flags: string[]) {
  const cwd = tempFolder();
  writeFileSync(join(cwd, name), readFileSync(join(files, name)));
  const at = terminal({ cwd });
  const code = await at.run("import", "llama-swap", name, ...flags);
  const path = join(cwd, "sir.config.ts");
  return { ...at, cwd, code, text: existsSync(path) ? readFileSync(path, "utf8") : "" };
}

/** Peers that answer and commands that are there in place of those of the file. */
async function withFakes(text: string): Promise<string> {
  const peer = await answering(ENGINES.openai);
  const command = JSON.stringify([process.execPath, engine, "$".concat("{PORT}"), "model"]);
  return text
    .replaceAll(/healthPath: "[^"]*"/g, 'healthPath: "/health"')
    .replaceAll(/baseUrl: "[^"]*"/g, `baseUrl: "${peer.origin}/v1"`)
    .replaceAll(/command: \[[\s\S]*?\](?=,\n| *,)/g, `command: ${command}`)
    .replaceAll(/ port: \d+,(?! \},\n {2}store)/g, (found, at: number) =>
      text.slice(0, at).includes("models: {") ? "" : found,
    );
}

/** For the process that reads the file, as the files' own variables are looked up there. */
async function within<T>(variables: Readonly<Record<string, string>>, act: () => Promise<T>): Promise<T> {
  const before = { ...process.env };
  Object.assign(process.env, variables);
  try {
    return await act();
  } finally {
    process.env = before;
  }
}

describe("what it writes", () => {
  it("compiles and is formatted", async () => {
    const texts: Record<string, string> = {};
    for (const name of names) {
      const { text, code } = await imported(name);
      expect([name, code]).toEqual([name, 0]);
      expect(formatted(text)).toBe(text);
      texts[name.replace(".yaml", "")] = text;
    }
    expect(typeFaults(texts)).toBe("");
  }, 180_000);

  it.each(names)(
    "is accepted by the doctor and serves: %s",
    async (name) => {
      const { text } = await imported(name);
      const folder = servingFolder();
      writeFileSync(join(folder, "sir.config.ts"), await withFakes(text));

      const report = await within(NEEDED, () => examined(folder, "--port", "0"));
      expect(report.checks.filter(({ level }) => level === "error")).toEqual([]);

      const router = await serve({ folder, config: join(folder, "sir.config.ts"), environment: NEEDED });
      const [, model = ""] = /models: \{\n(?: *\/\/.*\n)* *"?([^":]+)"?: \{/.exec(text) ?? [];
      const answer = await fetch(`${router.origin}/v1/chat/completions`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ model, messages: [{ role: "user", content: "hello" }] }),
      });
      expect([model, answer.status, await answer.text()]).toEqual([model, 200, expect.stringContaining("choices")]);
      await router.stop();
    },
    120_000,
  );
});

describe("what it says", () => {
  it("names file, line and the setting's own words", async () => {
    const { out } = await imported("small-home.yaml");

    expect(out()).toContain("Wrote sir.config.ts: 3 models, 1 device. Carried 8 of 11 settings as they were.");
    expect(out()).toMatch(/^ {2}small-home\.yaml:2 +healthCheckTimeout +became loadTimeoutSeconds/m);
    expect(out()).toMatch(
      /^ {2}small-home\.yaml:18 +models\.draw\.descripton +is no key .* Did you mean description\?$/m,
    );
  });

  it("exits 8 with --strict when something was left out, and 0 when nothing was", async () => {
    const plain = tempFolder();
    writeFileSync(join(plain, "c.yaml"), `models: { m: { cmd: "run ${"$".concat("{PORT}")}" } }`);

    expect((await imported("small-home.yaml", "--strict")).code).toBe(8);
    expect((await imported("small-home.yaml")).code).toBe(0);
    expect(await terminal({ cwd: plain }).run("import", "llama-swap", "c.yaml", "--strict")).toBe(0);
  });

  it("prints the configuration alone with --stdout, and writes nothing", async () => {
    const { out, err, cwd } = await imported("groups.yaml", "--stdout");

    expect(out()).toMatch(/^\/\/ Taken over[\s\S]*\}\);\n$/);
    expect(err()).toContain("Changed in meaning");
    expect(readdirSync(cwd)).toEqual(["groups.yaml"]);
  });

  it("prints one document with --json, whose sums are whole", async () => {
    const { out } = await imported("every-key.yaml", "--json");

    interface Row {
      file: string;
      line: number;
      settings: number;
    }
    const report = JSON.parse(out()) as {
      written: string;
      read: number;
      carried: number;
      changed: Row[];
      leftOut: Row[];
    };
    const sum = (rows: readonly Row[]): number => rows.reduce((all, { settings }) => all + settings, 0);
    expect(report.written).toBe("sir.config.ts");
    expect(report.carried + sum(report.changed) + sum(report.leftOut)).toBe(report.read);
    expect(report.leftOut[0]).toMatchObject({ file: "every-key.yaml", line: 4 });
  });

  it("writes where it is told, and over nothing", async () => {
    const first = await imported("groups.yaml", "--out", "mine.ts");
    expect(readdirSync(first.cwd)).toContain("mine.ts");

    const at = terminal({ cwd: first.cwd });
    expect(await at.run("import", "llama-swap", "groups.yaml", "--out", "mine.ts")).toBe(1);
    expect(at.err()).toContain("--force writes over it");
    expect(await at.run("import", "llama-swap", "groups.yaml", "--out", "mine.ts", "--force")).toBe(0);
  });

  it("refuses what it cannot take over", async () => {
    const cwd = tempFolder();
    writeFileSync(join(cwd, "bad.yaml"), "models: [");
    writeFileSync(join(cwd, "empty.yaml"), "logLevel: info");

    expect(await terminal({ cwd }).run("import", "llama-swap", "none.yaml")).toBe(5);
    expect(await terminal({ cwd }).run("import", "ollama", "bad.yaml")).toBe(2);
    expect(await terminal({ cwd }).run("import", "llama-swap", "bad.yaml")).toBe(2);
    expect(await terminal({ cwd }).run("import", "llama-swap", "empty.yaml")).toBe(1);
    expect(readdirSync(cwd).sort()).toEqual(["bad.yaml", "empty.yaml"]);
  });
});
