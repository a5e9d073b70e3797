// `sir init`: what is found becomes a file that compiles, is formatted, is accepted, and holds no guess unmarked; nothing
// that somebody wrote is written over.

import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Io } from "../../src/cli/command.ts";
import { settle } from "../../src/cli/init-run.ts";
import { findDockers } from "../../src/discovery/docker.ts";
import type { Machine } from "../../src/discovery/found.ts";
import { lookAround } from "../../src/discovery/look.ts";
import { SystemClock } from "../../src/system/clock.ts";
import { fakeOllama } from "../backends/fakes/ollama.ts";
import { answering, ENGINES, LLAMA_ROUTER, machineWith, nvidiaSmi, SPARK, surroundings } from "../discovery/fakes.ts";
import { examined, formatted, tempFolder, typeFaults } from "./generated.ts";
import { terminal } from "./terminal.ts";

const VLLM_CONTAINER = {
  "/version": { Version: "29.4.0" },
  "/containers/json": [{ Id: "1", Names: ["/vllm-oss"], Image: "vllm/vllm-openai:v1", State: "exited", Ports: [] }],
  "/containers/1/json": { Args: ["--model", "openai/oss", "--served-model-name", "oss", "oss-20b"], HostConfig: {} },
};

/** Each question gets the next answer. */
function asked(cwd: string, answers: readonly string[]) {
  const questions: string[] = [];
  const rest = [...answers];
  const screen = { ...terminal().io.screen, input: true, err: true, out: true };
  const question: Io["question"] = async (prompt) => {
    questions.push(prompt);
    return rest.shift() ?? "";
  };
  return { ...terminal({ cwd, screen, question }), questions };
}

async function written(machine: Machine, wishes = {}) {
  const cwd = tempFolder();
  const at = terminal({ cwd });
  const code = await settle(machine, { yes: true, ...wishes }, at.io);
  const path = join(cwd, "sir.config.ts");
  return { ...at, cwd, code, text: existsSync(path) ? readFileSync(path, "utf8") : "" };
}

describe("the file", () => {
  it("compiles, is formatted and is accepted, whatever was found", async () => {
    const router = await answering(LLAMA_ROUTER);
    const none = { programs: {}, files: {} };
    const two = { programs: { "nvidia-smi": nvidiaSmi("0, A, G, 24564, 1\n1, B, H, 8192, 1") }, files: {} };
    const machines: Record<string, Machine> = {
      spark: await machineWith(["ollama", "vllm"]),
      everything: await machineWith([
        "ollama",
        "vllm",
        "sglang",
        "llama-server",
        "llama-swap",
        "lmstudio",
        "tabbyapi",
        "openai",
      ]),
      small: await machineWith(["ollama"], two),
      without: await machineWith(["localai", "ollama"], none),
      router: await lookAround(surroundings(SPARK), { hosts: [router.origin], ports: [] }),
    };
    const texts: Record<string, string> = {};
    for (const [name, machine] of Object.entries(machines)) {
      const { text, code, cwd } = await written(machine);
      expect([name, code]).toEqual([name, 0]);
      expect(formatted(text)).toBe(text);
      const faults = (await examined(cwd, "--port", "0")).checks.filter(({ level }) => level === "error");
      expect([name, faults]).toEqual([name, []]);
      texts[name] = text;
    }
    expect(typeFaults(texts)).toBe("");
  }, 180_000);

  it("marks each number that nobody told as a guess, and no other", async () => {
    const { text } = await written(await machineWith(["ollama", "sglang"]));
    const lines = text.split("\n");
    const told = /^ +(concurrency: 24|port: \d+),$/;
    const numbers = lines.filter((line) => /^ +\w+: \d/.test(line) && !told.test(line));
    const guesses = lines.filter((line) => line.includes("// GUESS: "));

    expect(numbers.length).toBeGreaterThan(5);
    expect(guesses).toHaveLength(numbers.length);
  });

  it("leaves room for what vLLM holds and is not told to let go", async () => {
    const { text } = await written(await machineWith(["ollama", "vllm"]));

    expect(text).toContain("// NVIDIA GB10 (DGX Spark), 121.7 GiB unified; nvidia-smi reports no memory here.");
    expect(text).toContain("memoryGiB: 95.5,");
    expect(text).toContain("less 18.0 GiB held by what is not\n");
  });

  it("says in the file and on the screen of an engine that is used as it runs that nobody moves it", async () => {
    const { text, err } = await written(await machineWith(["ollama", "vllm", "sglang"]));

    const words = text.replaceAll(/\s+(\/\/ )?/g, " ");
    expect(words.match(/SIR passes requests on: it does not load or unload this/g)).toHaveLength(2);
    expect(words).toContain("let SIR start it: driver vllm-docker, vllm-sleep or process.");
    expect(err()).toMatch(/not moved +vLLM on :\d+: SIR passes requests on: it does not load or unload this, nor know/);
  });

  it("lets Ollama use main memory where there is no GPU, which would else be a failed load", async () => {
    const { text } = await written(await machineWith(["ollama"], { programs: {}, files: {} }));

    expect(text.match(/allowCpu: true/g)).toHaveLength(2);
    expect(text).toContain("// No GPU was found: one model at a time.");
  });

  it("takes an Ollama model's cache for the context that Ollama chooses on such a GPU, for one request at a time", async () => {
    const gpu = (mib: number) => ({ programs: { "nvidia-smi": nvidiaSmi(`0, A, G, ${mib}, 1`) }, files: {} });
    const models = [{ name: "qwen3:8b", size: 5_225_388_164 }];
    const quiet = { ...ENGINES.ollama, "/api/tags": { models }, "/api/ps": { models: [] } };
    const guessed: (string | undefined)[] = [];
    for (const mib of [16_384, 24_576, 49_152]) {
      const server = await answering(quiet);
      const machine = await lookAround(surroundings(gpu(mib)), { hosts: [server.origin], ports: [] });
      const { text } = await written(machine);
      expect(text).toContain("concurrency: 1,");
      guessed.push(/cache for one\s+(?:\/\/ )?request, for (\d+)/.exec(text)?.[1]);
    }

    // 8b was made for 40,960 tokens.
    expect(guessed).toEqual(["4096", "32768", "40960"]);
  });

  it("lets an Ollama model be asked for without :latest, where no other has that name", async () => {
    const models = [{ name: "llama3.2:latest" }, { name: "qwen3:latest" }, { name: "qwen3:8b" }];
    const server = await answering({ ...ENGINES.ollama, "/api/tags": { models } });
    const other = await answering({ "/v1/models": { data: [{ id: "qwen3", owned_by: "vllm" }] } });
    const hosts = [server.origin, other.origin];

    const { text, cwd } = await written(await lookAround(surroundings(SPARK), { hosts, ports: [] }));

    expect(text.match(/aliases: .*/g)).toEqual(['aliases: ["llama3.2"],']);
    expect((await examined(cwd, "--port", "0")).checks.filter(({ level }) => level === "error")).toEqual([]);
  });

  it("holds no key of the environment", async () => {
    const given = { ...SPARK, environment: { HF_TOKEN: "hf_secret", OPENAI_API_KEY: "sk-secret" } };
    const { text, out, err } = await written(await machineWith(["ollama"], given), { json: true });

    expect(text + out() + err()).not.toContain("secret");
  });

  it("gives a name that two engines have to the first, and says so", async () => {
    const [one, other] = await Promise.all([answering(ENGINES.vllm), answering(ENGINES.vllm)]);
    const machine = await lookAround(surroundings(SPARK), { hosts: [one.origin, other.origin], ports: [] });

    const { text, err } = await written(machine);

    expect(text.match(/"openai\/gpt-oss-20b": \{/g)).toHaveLength(1);
    expect(err()).toMatch(/left alone +openai\/gpt-oss-20b \(vLLM on :\d+\): vLLM on :\d+ has one of that name/);
  });
});

describe("without a terminal", () => {
  it("and without --yes the file is printed and nothing is written", async () => {
    const cwd = tempFolder();
    const { io, out, err } = terminal({ cwd });

    const code = await settle(await machineWith(["ollama"]), {}, io);

    expect([code, readdirSync(cwd)]).toEqual([0, []]);
    expect(out()).toMatch(/^\/\/ Written by `sir init`[\s\S]*\}\);\n$/);
    expect(err()).toContain("Nothing was written");
  });

  it("--json is one document: found, written, skipped", async () => {
    const cwd = tempFolder();
    const { io, out } = terminal({ cwd });

    await settle(await machineWith(["ollama", "vllm"]), { json: true, yes: true }, io);

    const {
      found,
      written: name,
      skipped,
    } = JSON.parse(out()) as { found: object[]; written: string; skipped: object[] };
    expect(found).toMatchObject([
      { what: "device" },
      { what: "engine", kind: "ollama" },
      { what: "engine", kind: "vllm" },
    ]);
    expect([name, skipped]).toEqual([
      "sir.config.ts",
      [{ what: "kimi:cloud", why: "it runs in Ollama's cloud, not on this machine" }],
    ]);
  });

  it("and without an engine it says how to have one, and exits 5", async () => {
    const cwd = tempFolder();
    const { io, err, out } = terminal({ cwd });

    const code = await settle(await machineWith([]), { yes: true }, io);

    expect([code, out(), readdirSync(cwd)]).toEqual([5, "", []]);
    expect(err()).toContain("sir init --host HOST:PORT");
  });
});

describe("at a terminal", () => {
  it("asks which models, and takes numbers", async () => {
    const cwd = tempFolder();
    const at = asked(cwd, ["7", "2"]);

    await settle(await machineWith(["ollama"]), {}, at.io);

    const text = readFileSync(join(cwd, "sir.config.ts"), "utf8");
    expect(at.questions).toHaveLength(2);
    expect([text.includes('"gpt-oss:120b"'), text.includes('"qwen3:8b"')]).toEqual([true, false]);
    expect(at.out()).toContain("Wrote sir.config.ts (1 model).");
  });

  it.each([
    ["y", "vllm-docker"],
    ["", "remote"],
  ])("asks whether containers may be started, and %j means %s", async (answer, driver) => {
    const around = surroundings(SPARK);
    mkdirSync(join(around.root, "/var/run"), { recursive: true });
    await answering(VLLM_CONTAINER, join(around.root, "/var/run/docker.sock"));
    const server = await answering(ENGINES.vllm);
    const machine = {
      ...(await lookAround(around, { hosts: [server.origin], ports: [] })),
      ...(await findDockers(around)),
    };
    const cwd = tempFolder();
    const at = asked(cwd, [answer, ""]);

    await settle(machine, {}, at.io);

    const text = readFileSync(join(cwd, "sir.config.ts"), "utf8");
    expect(at.questions[0]).toBe("? May SIR start and stop the container vllm-oss? (y/N) ");
    expect(text).toContain(`driver: "${driver}"`);
    expect(text.includes('containerName: "vllm-oss"')).toBe(driver === "vllm-docker");
    expect(text.includes('aliases: ["oss-20b"]')).toBe(driver === "vllm-docker");
  });

  it("measures what it may load, once it was agreed to, and leaves nothing loaded", async () => {
    const fake = await fakeOllama("qwen3:8b", "gpt-oss:120b");
    const machine = await machineWith(["ollama"]);
    const [engine] = machine.engines;
    const models = engine?.models.map((model) => ({ ...model, loadedGiB: null })) ?? [];
    const moved = { ...machine, engines: engine === undefined ? [] : [{ ...engine, origin: fake.origin, models }] };
    const cwd = tempFolder();
    const at = asked(cwd, ["", "y"]);

    await settle(moved, { measure: true }, { ...at.io, clock: new SystemClock() });

    const text = readFileSync(join(cwd, "sir.config.ts"), "utf8");
    expect(at.questions[1]).toContain("Load each of 2 models once and unload it again?");
    expect(text.match(/Measured by `sir init --measure`/g)).toHaveLength(4);
    expect(text).not.toContain("GiB a second");
    expect(fake.loaded()).toEqual([]);
  });

  it("measures nothing when it was not agreed to", async () => {
    const cwd = tempFolder();
    const at = asked(cwd, ["", "n"]);

    await settle(await machineWith(["ollama"]), { measure: true }, at.io);

    expect(readFileSync(join(cwd, "sir.config.ts"), "utf8")).not.toContain("Measured");
  });

  it("looks at its own machine by real probes, and refuses what it does not know", async () => {
    const { run, err } = terminal({ cwd: tempFolder(), environment: { PATH: "/nowhere" } });

    expect(await run("init", "--only", "olama")).toBe(2);
    expect(err()).toContain('"olama" is no kind of engine');
    expect(await run("init", "--host", "http://")).toBe(2);
  });
});
