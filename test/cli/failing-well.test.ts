// What a script meets when something is wrong: nothing on standard output, one error object, no stack of ours.

import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { everyCommand } from "../../src/cli/main.ts";
import { builtCli } from "../e2e/built.ts";
import { serve, tempFolder } from "../e2e/process.ts";
import { piped } from "./pseudo-terminal.ts";
import { terminal } from "./terminal.ts";

beforeAll(() => void builtCli(), 300_000);

/** Through a shell, whose redirections and pipes are what is tried. */
function inShell(
  script: string,
): Promise<{ readonly code: number | null; readonly out: string; readonly err: string }> {
  const sir = `"${process.execPath}" "${builtCli()}"`;
  const child = spawn("bash", ["-c", `sir() { ${sir} "$@"; }; ${script}`], { stdio: ["ignore", "pipe", "pipe"] });
  const said = { out: "", err: "" };
  child.stdout.on("data", (data: Buffer) => {
    said.out += data.toString("utf8");
  });
  child.stderr.on("data", (data: Buffer) => {
    said.err += data.toString("utf8");
  });
  return new Promise((resolve) => {
    child.once("close", (code) => resolve({ code, ...said }));
  });
}

describe("with --json", () => {
  it("every command refuses what it does not know with one error object and nothing on standard output", async () => {
    const commands = await everyCommand();
    expect(commands.length).toBeGreaterThan(15);
    for (const { name } of commands) {
      const { run, out, err } = terminal();
      const code = await run(name, "--nonsense", "--json");

      expect([name, code, out()]).toEqual([name, 2, ""]);
      expect(JSON.parse(err())).toEqual({ error: { code: "usage", message: expect.stringContaining("--nonsense") } });
    }
  });

  it("import says what is missing, and what is there already, as an object", async () => {
    const folder = tempFolder();
    const [from, out] = [join(folder, "config.yaml"), join(folder, "there.ts")];
    writeFileSync(from, "models:\n  chat:\n    cmd: llama-server -m chat.gguf --port 9001\n");
    writeFileSync(out, "");
    const missing = await piped(["import", "llama-swap", "nowhere.yaml", "--json"], {}, folder);
    const taken = await piped(["import", "llama-swap", from, "--out", out, "--json"], {}, folder);

    expect([missing.code, missing.out, taken.code, taken.out]).toEqual([5, "", 1, ""]);
    for (const { err } of [missing, taken]) {
      expect(JSON.parse(err)).toEqual({ error: { code: "import_failed", message: expect.any(String) } });
    }
  });

  it("backup names the place that cannot be written, not the store", async () => {
    const folder = tempFolder();
    const router = await serve({ folder, config: { models: { chat: { backend: { driver: "mock" } } } } });
    await router.kill();
    const store = `sqlite:${join(folder, "data", "sir.db")}`;
    const file = join(folder, "file");
    writeFileSync(file, "");
    const to = join(file, "sir.db");
    const { code, out, err } = await piped(["backup", "--store", store, "--to", to, "--json"], {}, folder);

    expect([code, out]).toEqual([1, ""]);
    expect(JSON.parse(err)).toMatchObject({
      error: { code: "backup_failed", message: expect.stringContaining(`${to} cannot be written`) },
    });
  });
});

describe("standard output", () => {
  it("that is closed early ends a command quietly", async () => {
    const { out, err } = await inShell('sir config schema | head -c 1; echo " $PIPESTATUS"');

    expect([out, err]).toEqual(["{ 0\n", ""]);
  });

  it("on a full disk is said in words, with a failure", async () => {
    const { code, err } = await inShell("sir config schema > /dev/full");

    expect(code).toBe(1);
    expect(err).toMatch(/^sir: standard output cannot be written: ENOSPC[^\n]*\n$/);
  });

  it("is what a failure of standard error leaves alone", async () => {
    const { code, out } = await inShell("sir completion bash 2> /dev/full");

    expect([code, out.startsWith("# sir: completion")]).toEqual([0, true]);
  });
});
