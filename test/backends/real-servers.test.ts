// The drivers of servers that load models themselves, before the real servers, where variables name their binaries:
//
//   SIR_OLLAMA=…/ollama SIR_LLAMA_SERVER=…/llama-server SIR_GGUF=…/model.gguf SIR_LLAMA_SWAP=…/llama-swap

import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { llamaServer } from "../../src/backends/llama-server.ts";
import { llamaSwap } from "../../src/backends/llama-swap.ts";
import { ollama } from "../../src/backends/ollama.ts";
import { SystemClock } from "../../src/system/clock.ts";
import { backendOf, lossOf, never } from "./model-server-rig.ts";
import { exerciseRealServer, type RealServer, startServer } from "./real-server.ts";
import { placementOf } from "./samples.ts";

vi.setConfig({ testTimeout: 300_000 });

const gguf = process.env["SIR_GGUF"] ?? "";
const missing: string[] = [];

/** The binary that a variable names; null when the real server cannot be tried here. */
function binary(variable: string, needsModel: boolean): string | null {
  const path = process.env[variable] ?? "";
  if (existsSync(path) && (!needsModel || existsSync(gguf))) return path;
  missing.push(needsModel ? `${variable} and SIR_GGUF` : variable);
  return null;
}

const post = (url: string, body?: object): Promise<string> =>
  fetch(url, { method: "POST", ...(body === undefined ? {} : { body: JSON.stringify(body) }) }).then((answer) =>
    answer.text(),
  );

function childrenOf(parent: number | undefined): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && existsSync(`/proc/${name}/stat`))
    .filter((name) => Number(/\) \S (\d+)/.exec(readFileSync(`/proc/${name}/stat`, "latin1"))?.[1]) === parent)
    .map(Number);
}

const ollamaPath = binary("SIR_OLLAMA", true);
describe.skipIf(ollamaPath === null)("the real Ollama", () => {
  const program = ollamaPath ?? "";
  const hostOf = (port: number | string) => ({ OLLAMA_HOST: `127.0.0.1:${port}` });
  const create = ({ folder, origin }: RealServer, name: string, modelfile: string): void => {
    const file = join(folder, name);
    writeFileSync(file, modelfile);
    const env = { PATH: process.env["PATH"], HOME: folder, ...hostOf(new URL(origin).port) };
    execFileSync(program, ["create", name, "-f", file], { env, stdio: "ignore" });
  };
  const start = async (): Promise<RealServer> => {
    const server = await startServer(
      () => [program, "serve"],
      "/api/version",
      ({ port, folder }) => ({
        ...hostOf(port),
        OLLAMA_MODELS: join(folder, "models"),
      }),
    );
    for (const name of ["sir-a", "sir-b"]) {
      // Names with the same weights would share one runner; a byte behind the tensors makes other weights of them.
      const copy = join(server.folder, `${name}.gguf`);
      copyFileSync(gguf, copy);
      appendFileSync(copy, name);
      create(server, name, `FROM ${copy}\nPARAMETER num_ctx 512\n`);
    }
    return server;
  };
  exerciseRealServer({
    driver: ollama,
    start,
    models: ["sir-a", "sir-b"],
    options: { allowCpu: true },
    unloadElsewhere: ({ origin }, model) => post(`${origin}/api/generate`, { model, keep_alive: 0 }),
  });

  const on = ({ origin }: RealServer, model: string, over: object = {}) => {
    const backend = backendOf(
      ollama,
      { origin },
      { clock: new SystemClock(), models: [model], allowCpu: true, ...over },
    );
    return { backend, load: () => backend.start(placementOf(model), () => undefined, never()) };
  };

  it("renews its promise when another client's options had the model loaded anew", async () => {
    const server = await start();
    const { backend, load } = on(server, "sir-a");
    await load();

    await post(`${server.origin}/api/generate`, { model: "sir-a", stream: false, options: { num_ctx: 1024 } });

    const notes = () => backend.logs("sir-a" as never, 20).then((lines) => lines.join("\n"));
    await expect.poll(notes, { timeout: 120_000, interval: 500 }).toContain("kept for ever again");
    expect(await notes()).toContain("context 512 became context 1024");
    const expiry = await fetch(`${server.origin}/api/ps`).then((answer) => answer.text());
    expect(expiry).toMatch(/"expires_at":"2[1-9]/);
  });

  it("is told that names with the same weights share one runner", async () => {
    const server = await start();
    create(server, "sir-c", `FROM ${join(server.folder, "sir-a.gguf")}\nSYSTEM Be brief.\nPARAMETER num_ctx 512\n`);
    await on(server, "sir-a").load();

    await expect(on(server, "sir-c").load()).rejects.toThrow(/lists sir-a:latest: names with the same weights/);
  });

  it("calls a model that is not on the GPU one that does not fit", async () => {
    const server = await start();
    await on(server, "sir-a").load();
    const list = await fetch(`${server.origin}/api/ps`).then((answer) => answer.text());
    if (!list.includes('"size_vram":0')) return;

    await expect(on(server, "sir-a", { allowCpu: false }).load()).rejects.toThrow(
      /sir-a:latest does not fit: Ollama put 0\.0 of/,
    );
    expect(await on(server, "sir-a").backend.inspect()).toEqual([]);
  });
});

const llamaServerPath = binary("SIR_LLAMA_SERVER", true);
describe.skipIf(llamaServerPath === null)("the real llama-server", () => {
  const start = (): Promise<RealServer> =>
    startServer(
      ({ port, folder }) => {
        const models = join(folder, "models");
        mkdirSync(models);
        for (const name of ["sir-a", "sir-b"]) symlinkSync(gguf, join(models, `${name}.gguf`));
        writeFileSync(join(models, "sir-broken.gguf"), "no model");
        const args = ["--models-dir", models, "--no-models-autoload", "-c", "512", "--host", "127.0.0.1"];
        return [llamaServerPath ?? "", ...args, "--port", String(port)];
      },
      "/health",
      ({ folder }) => ({ LLAMA_CACHE: join(folder, "cache") }),
    );
  exerciseRealServer({
    driver: llamaServer,
    start,
    models: ["sir-a", "sir-b"],
    unloadElsewhere: ({ origin }, model) => post(`${origin}/models/unload`, { model }),
  });

  it("tells how a model's process ended: one that cannot load, and one that is killed", async () => {
    const server = await start();
    const models = ["sir-a", "sir-broken"];
    const backend = backendOf(llamaServer, server, { clock: new SystemClock(), models, watchSeconds: 0.5 });
    const loss = lossOf(backend);
    const load = (model: string) => backend.start(placementOf(model), () => undefined, never());

    await expect(load("sir-broken")).rejects.toThrow(/did not load sir-broken: its process ended with exit code \d+/);
    await load("sir-a");
    for (const pid of childrenOf(server.process.pid)) process.kill(pid, "SIGKILL");

    expect((await loss).detail).toMatch(/llama-server has lost sir-a: its process ended with exit code/);
  });
});

const llamaSwapPath = binary("SIR_LLAMA_SWAP", false);
describe.skipIf(llamaSwapPath === null)("the real llama-swap", () => {
  const engine = new URL("./engines/vllm-shaped.mjs", import.meta.url).pathname;
  const start = (): Promise<RealServer> =>
    startServer(({ port, folder }) => {
      const config = join(folder, "config.yaml");
      const models = ["sir-a", "author/sir-b"].map((name) => {
        const command = `${process.execPath} ${engine} \${PORT} ${name}`;
        return `  "${name}":\n    cmd: ${command}\n    ttl: 0\n`;
      });
      writeFileSync(config, `startPort: ${port + 1}\nmodels:\n${models.join("")}`);
      return [llamaSwapPath ?? "", "-config", config, "-listen", `127.0.0.1:${port}`];
    }, "/health");
  exerciseRealServer({
    driver: llamaSwap,
    start,
    models: ["sir-a", "author/sir-b"],
    unloadElsewhere: ({ origin }, model) => post(`${origin}/api/models/unload/${model}`),
  });
});

for (const variable of missing) {
  const words = `NOT TRIED before the real server: ${variable} not set, or no such file`;
  process.stderr.write(`${words}\n`);
  it.skip(words);
}
