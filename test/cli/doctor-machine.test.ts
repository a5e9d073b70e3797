// What the doctor says about the machine a configuration is for, seen through fakes.

import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { checkMachine } from "../../src/cli/doctor-machine.ts";
import { loadConfig } from "../../src/config/load.ts";
import { answering, ENGINES, GB10, type MachineFiles, nvidiaSmi, surroundings } from "../discovery/fakes.ts";
import { examined, tempFolder } from "./generated.ts";

async function findings(config: object, given: MachineFiles = {}) {
  const cwd = tempFolder();
  writeFileSync(join(cwd, "sir.config.json"), JSON.stringify(config));
  const checks = await checkMachine(await loadConfig({ cwd, environment: {} }), surroundings(given));
  return checks.map(({ level, id, text, mend }) => `${level} ${id}: ${text}${mend === null ? "" : ` ${mend}`}`);
}

const process = (command: string) => ({ backend: { driver: "process", command: [command, "$".concat("{PORT}")] } });
const RTX: MachineFiles = { programs: { "nvidia-smi": nvidiaSmi("0, RTX 4090, G, 24564, 1") } };
const SPARK: MachineFiles = {
  programs: { "nvidia-smi": nvidiaSmi(GB10) },
  files: { "/proc/meminfo": "MemTotal: 127643648 kB\n" },
};
const sized = (memoryGiB: number) => ({ devices: { gpu0: { memoryGiB } }, models: { m: process("/bin/sh") } });

describe("memory", () => {
  it.each<[string, number, MachineFiles, RegExp]>([
    ["fits", 22, RTX, /^ok devices: seen: RTX 4090 with 24\.0 GiB; 22 GiB is written for gpu0$/],
    [
      "is more than there is",
      119,
      RTX,
      /^warn devices: 119 GiB is written for gpu0, and RTX 4090 .* is there\. Write at most 22\.5\.$/,
    ],
    [
      "is unified and leaves the system nothing",
      120,
      SPARK,
      /^warn devices: 120 GiB .* unified, .* Write at most 113\.5/,
    ],
    [
      "is unified and leaves enough",
      113,
      SPARK,
      /^ok devices: seen: NVIDIA GB10 \(DGX Spark\) with 121\.7 GiB unified/,
    ],
    ["cannot be seen", 22, {}, /^ok devices: no GPU is seen from here/],
  ])("%s", async (_, memoryGiB, machine, expected) => {
    expect((await findings(sized(memoryGiB), machine))[0]).toMatch(expected);
  });

  it("of a configuration of mocks is no matter", async () => {
    expect(
      await findings({ devices: { gpu0: { memoryGiB: 119 } }, models: { m: { backend: { driver: "mock" } } } }, RTX),
    ).toEqual([]);
  });
});

describe("servers that load models", () => {
  const on = (baseUrl: string, ...names: string[]) => ({
    models: Object.fromEntries(names.map((name) => [name, { loadSeconds: 5, backend: { driver: "ollama", baseUrl } }])),
  });

  it("that answer and have the models are good", async () => {
    const { origin } = await answering(ENGINES.ollama);

    expect(await findings(on(origin, "qwen3:8b", "gpt-oss:120b"))).toContain(
      `ok ollama: Ollama at ${origin} answers, and has all 2 models`,
    );
  });

  it("that lack a model are told how to have it", async () => {
    const { origin } = await answering(ENGINES.ollama);

    expect(await findings(on(origin, "llama9"))).toContain(
      `warn llama9: Ollama at ${origin} has no model llama9. Run "ollama pull llama9", or correct upstreamName.`,
    );
  });

  it("that are another engine are named", async () => {
    const { origin } = await answering(ENGINES.vllm);

    expect((await findings(on(origin, "x")))[1]).toBe(
      `warn x: vLLM answers at ${origin}, where Ollama is expected. See what listens there.`,
    );
  });

  it("that do not answer are a fault", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));

    expect((await findings(on(`http://127.0.0.1:${port}`, "x")))[1]).toMatch(
      /^error x: Ollama at .* does not answer\./,
    );
  });

  it("that take a request and do not answer are no fault yet", async () => {
    const { origin } = await answering({ "*": "nothing" });

    expect((await findings(on(origin, "x")))[1]).toMatch(/^warn x: Ollama at .* did not answer within 3 s\./);
  });
});

describe("programs", () => {
  it.each([
    ["/bin/sh", null],
    ["sh", null],
    ["/no/such/server", /^warn m: its program \/no\/such\/server is not there\./],
    ["no-such-server", /^warn m: its program no-such-server is not on the PATH/],
  ])("%s", async (program, expected) => {
    const found = (await findings({ models: { m: process(program) } })).filter((line) => line.includes("program"));

    expect(found.length).toBe(expected === null ? 0 : 1);
    if (expected !== null) expect(found[0]).toMatch(expected);
  });
});

describe("what init leaves to be looked at", () => {
  it("is counted with its lines until the word is gone", async () => {
    const cwd = tempFolder();
    mkdirSync(join(cwd, "data"));
    const models =
      'models: {\n    m: {\n      // GUESS: so long.\n      loadSeconds: 3,\n      backend: { driver: "mock" },\n    },\n  }';
    const text = `export default {\n  server: { port: 0 },\n  // GUESS: all of it.\n  devices: { gpu0: {} },\n  ${models},\n};\n`;
    writeFileSync(join(cwd, "sir.config.ts"), text);
    const { checks, code } = await examined(cwd);
    expect([code, checks.find(({ id }) => id === "guesses")?.text]).toEqual([
      0,
      "sir.config.ts has 2 guesses: lines 3, 7.",
    ]);

    writeFileSync(join(cwd, "sir.config.ts"), text.replaceAll("GUESS: ", ""));
    expect((await examined(cwd)).checks.filter(({ id }) => id === "guesses")).toEqual([]);
  });

  it("is a port that vLLM does not have", async () => {
    const { port } = await answering(ENGINES.vllm);
    const cwd = tempFolder();
    const models = { m: { loadSeconds: 3, backend: { driver: "mock" } } };
    writeFileSync(join(cwd, "sir.config.json"), JSON.stringify({ server: { port }, models }));

    const { checks, code } = await examined(cwd);

    expect(code).toBe(8);
    expect(checks.find(({ id }) => id === "address")).toMatchObject({
      text: `127.0.0.1:${port} belongs to vLLM.`,
      mend: expect.stringMatching(/^Set server\.port to 8\d00, or start with --port 8\d00\.$/),
    });
  });
});
