// The drivers of servers that load models themselves, before the real servers, where variables name their binaries:
//
//   SIR_OLLAMA=…/ollama SIR_LLAMA_SERVER=…/llama-server SIR_GGUF=…/model.gguf SIR_LLAMA_SWAP=…/llama-swap

import { execFileSync } from "node:child_process";
import { appendFileSync, copyFileSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it, vi } from "vitest";
import { llamaServer } from "../../src/backends/llama-server.ts";
import { llamaSwap } from "../../src/backends/llama-swap.ts";
import { ollama } from "../../src/backends/ollama.ts";
import { exerciseRealServer, type RealServer, startServer } from "./real-server.ts";

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

const ollamaPath = binary("SIR_OLLAMA", true);
describe.skipIf(ollamaPath === null)("the real Ollama", () => {
  const program = ollamaPath ?? "";
  const start = async (): Promise<RealServer> => {
    const hostOf = (port: number) => ({ OLLAMA_HOST: `127.0.0.1:${port}` });
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
      const file = join(server.folder, name);
      writeFileSync(file, `FROM ${copy}\nPARAMETER num_ctx 512\n`);
      const env = { PATH: process.env["PATH"], HOME: server.folder, ...hostOf(Number(new URL(server.origin).port)) };
      execFileSync(program, ["create", name, "-f", file], { env, stdio: "ignore" });
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
});

const llamaServerPath = binary("SIR_LLAMA_SERVER", true);
describe.skipIf(llamaServerPath === null)("the real llama-server", () => {
  const start = (): Promise<RealServer> =>
    startServer(
      ({ port, folder }) => {
        const models = join(folder, "models");
        mkdirSync(models);
        for (const name of ["sir-a", "sir-b"]) symlinkSync(gguf, join(models, `${name}.gguf`));
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
