// Machines that are not there: servers that answer as engines do, programs on a PATH of their own, system files below a
// folder, sockets of container engines.

import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import type { Machine } from "../../src/discovery/found.ts";
import { lookAround } from "../../src/discovery/look.ts";
import type { Surroundings } from "../../src/discovery/surroundings.ts";

export interface Answering {
  readonly origin: string;
  readonly port: number;
  /** Method and path of each request. */
  readonly asked: string[];
}

/** Answers a path by its JSON, or a number by that status alone; anything else by 404. `*` stands for the rest. */
export async function answering(
  routes: Readonly<Record<string, unknown>>,
  at: number | string = 0,
  delayMs = 0,
): Promise<Answering> {
  const asked: string[] = [];
  const server = createServer(async (request, response) => {
    if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs));
    const path = (request.url ?? "").split("?")[0] ?? "";
    asked.push(`${request.method} ${path}`);
    const answer = routes[request.url ?? ""] ?? routes[path] ?? routes["*"] ?? 404;
    if (answer === "nothing") return;
    const status = typeof answer === "number" ? answer : 200;
    response.writeHead(status, { "content-type": typeof answer === "string" ? "text/html" : "application/json" });
    response.end(typeof answer === "string" ? answer : JSON.stringify(typeof answer === "number" ? {} : answer));
  });
  await new Promise<void>((resolve) => {
    if (typeof at === "string") server.listen(at, resolve);
    else server.listen(at, "127.0.0.1", resolve);
  });
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const port = typeof at === "string" ? 0 : (server.address() as AddressInfo).port;
  return { origin: `http://127.0.0.1:${port}`, port, asked };
}

export interface MachineFiles {
  /** Text of a shell script by the program's name. */
  readonly programs?: Readonly<Record<string, string>>;
  /** By absolute path. */
  readonly files?: Readonly<Record<string, string>>;
  readonly environment?: Readonly<Record<string, string>>;
  readonly platform?: string;
  readonly arch?: string;
}

/** A machine of which only this is there. */
export function surroundings(given: MachineFiles = {}): Surroundings {
  const root = mkdtempSync(join(tmpdir(), "sir-machine-"));
  chmodSync(root, 0o755);
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const programs = join(root, "programs");
  mkdirSync(programs);
  for (const [name, script] of Object.entries(given.programs ?? {})) {
    writeFileSync(join(programs, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  }
  for (const [path, text] of Object.entries(given.files ?? {})) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  const environment = { PATH: `${programs}:/usr/bin:/bin`, ...given.environment };
  return { environment, platform: given.platform ?? "linux", arch: given.arch ?? "x64", root };
}

const models = (owner: string, ...ids: string[]) => ({
  object: "list",
  data: ids.map((id) => ({ id, object: "model", owned_by: owner, max_model_len: 32_768 })),
});

const OLLAMA = {
  "/api/version": { version: "0.14.2" },
  "/api/tags": {
    models: [
      { name: "qwen3:8b", size: 5_225_388_164 },
      { name: "gpt-oss:120b", size: 65_369_822_211 },
      { name: "kimi:cloud", size: 300, remote_host: "https://ollama.example", remote_model: "kimi" },
    ],
  },
  "/api/ps": { models: [{ name: "qwen3:8b", size: 9_770_000_000, size_vram: 9_000_000_000 }] },
  "/api/show": {
    model_info: {
      "general.architecture": "qwen3",
      "qwen3.block_count": 36,
      "qwen3.context_length": 40_960,
      "qwen3.attention.head_count": 32,
      "qwen3.attention.head_count_kv": 8,
      "qwen3.attention.key_length": 128,
    },
  },
  "/v1/models": models("library", "qwen3:8b"),
};

/** What each engine answers. */
export const ENGINES = {
  ollama: OLLAMA,
  vllm: {
    "/v1/models": models("vllm", "openai/gpt-oss-20b"),
    "/version": { version: "0.18.1" },
    "/is_sleeping": { is_sleeping: false },
  },
  sglang: {
    "/v1/models": models("sglang", "deepseek"),
    "/server_info": { version: "0.5.2", max_running_requests: 24 },
  },
  "llama-server": {
    "/v1/models": models("llamacpp", "/models/tiny.gguf"),
    "/props": { total_slots: 3, build_info: "b6700", default_generation_settings: { n_ctx: 8192 } },
  },
  "llama-swap": {
    "/running": { running: [] },
    "/v1/models": models("llama-swap", "big", "small"),
    // It has a version at Ollama's path too.
    "/api/version": { version: "250" },
  },
  localai: { ...OLLAMA, "/system": { backends: ["llama-cpp"], loaded_models: [] }, "/v1/models": models("", "phi-4") },
  lmstudio: {
    "/api/v1/models": { models: [{ key: "google/gemma-3-12b", size_bytes: 8_000_000_000, loaded_instances: [] }] },
    "/v1/models": models("organization_owner", "google/gemma-3-12b"),
  },
  tabbyapi: { "/v1/models": models("tabbyAPI", "one", "two"), "/v1/model": { id: "two", owned_by: "tabbyAPI" } },
  sir: { "/v1/models": models("sir", "chat"), "/healthz": { status: "ok" } },
  openai: { "/v1/models": models("somebody", "model-x") },
} as const;

/** llama.cpp in router mode. */
export const LLAMA_ROUTER = {
  "/models": { data: [{ id: "a", owned_by: "llamacpp", status: { value: "unloaded" } }] },
  "/v1/models": models("llamacpp", "a"),
  "/props": { build_info: "b7000" },
};

export const GB10 = "0, NVIDIA GB10, GPU-5f1c, [N/A], 580.95.05";

/** Answers the two questions that are asked of it. */
export function nvidiaSmi(gpus: string, tenants = ""): string {
  return `case "$1" in\n*query-gpu*) printf '%s\\n' "${gpus}";;\n*) printf '%s\\n' "${tenants}";;\nesac`;
}

/** A DGX Spark on which a vLLM and an Ollama run. */
export const SPARK: MachineFiles = {
  programs: { "nvidia-smi": nvidiaSmi(GB10, "VLLM::EngineCore, 18432\n/usr/bin/ollama, 9300") },
  files: { "/proc/meminfo": "MemTotal:       127643648 kB\n" },
};

/** Engines of these kinds, on ports of their own. */
export async function machineWith(engines: readonly (keyof typeof ENGINES)[], given = SPARK): Promise<Machine> {
  const around = surroundings(given);
  const servers = await Promise.all(engines.map((kind) => answering(ENGINES[kind])));
  return await lookAround(around, { hosts: servers.map(({ origin }) => origin), ports: [] });
}
