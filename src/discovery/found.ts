// What a look at the machine can find: devices, engines that answer, containers that hold engines. Facts, no guesses.

export interface FoundModel {
  /** What the engine calls it. */
  readonly name: string;
  /** Its weights on disk, in GiB; null: the engine does not say. */
  readonly weightsGiB: number | null;
  /** What a conversation keeps in memory; null: not known. */
  readonly cache: FoundCache | null;
  /** Loaded at this moment, with so much memory in GiB; null: it is not, or the engine does not say. */
  readonly loadedGiB: number | null;
  /** Why nothing should be routed to it, in words; null: nothing speaks against it. */
  readonly unfit: string | null;
}

export interface FoundCache {
  readonly bytesPerToken: number;
  /** Tokens of context that it is loaded with, where that is set; null: the engine chooses. */
  readonly tokens: number | null;
  /** Tokens that the model was made for; null: not known. */
  readonly mostTokens: number | null;
}

export const ENGINE_KINDS = [
  "ollama",
  "vllm",
  "sglang",
  "llama-server",
  "llama-swap",
  "localai",
  "lmstudio",
  "tabbyapi",
] as const;
export type EngineKind = (typeof ENGINE_KINDS)[number];

/** As people write them. */
export const TITLES: Readonly<Record<string, string>> = {
  ollama: "Ollama",
  vllm: "vLLM",
  sglang: "SGLang",
  "llama-server": "llama-server",
  "llama-swap": "llama-swap",
  localai: "LocalAI",
  lmstudio: "LM Studio",
  tabbyapi: "TabbyAPI",
  "llama.cpp": "llama.cpp",
  tei: "text-embeddings-inference",
  openai: "An engine with OpenAI's API",
  sir: "SIR",
};

export interface FoundEngine {
  /** `sir` is a router like this one; `openai` speaks the API and is none of those known. */
  readonly kind: EngineKind | "sir" | "openai";
  readonly origin: string;
  readonly version: string | null;
  readonly models: readonly FoundModel[];
  /** It can be told to load and unload; else what it serves is there whenever it runs. */
  readonly loads: boolean;
  /** Requests at once that it was started for; null: not known. */
  readonly slots: number | null;
  /** Worth saying about it, a few words each. */
  readonly notes: readonly string[];
}

/** Something listens and is none of the engines. */
export interface Stranger {
  readonly origin: string;
  /** 0: it took the connection and did not answer as HTTP does. */
  readonly status: number;
}

export interface FoundDevice {
  /** `gpu0` and on. */
  readonly id: string;
  readonly name: string;
  readonly vendor: "nvidia" | "amd" | "apple";
  /** What it has, in GiB; null: it does not say. */
  readonly totalGiB: number | null;
  /** What models may be given of it, in GiB. */
  readonly offeredGiB: number | null;
  /** Main memory and GPU memory are one. */
  readonly unified: boolean;
  readonly notes: readonly string[];
}

/** A process that holds GPU memory now. */
export interface GpuTenant {
  readonly process: string;
  readonly usedGiB: number;
}

export interface FoundContainer {
  readonly name: string;
  readonly image: string;
  /** What the image is known for: `vllm`, `sglang`, `llama.cpp`, `ollama`, `tei`. */
  readonly engine: string;
  readonly running: boolean;
  /** On this machine, of a running one. */
  readonly hostPorts: readonly number[];
  /** On which its server listens inside. */
  readonly port: number;
  /** Names from its own arguments. */
  readonly servedNames: readonly string[];
  readonly usesGpu: boolean;
  readonly dockerHost: string;
}

export interface FoundDocker {
  readonly kind: "docker" | "podman";
  readonly dockerHost: string;
  readonly version: string;
  readonly containers: readonly FoundContainer[];
}

/** A socket that is there and does not let us in, or does not answer. */
export interface ShutDocker {
  readonly dockerHost: string;
  readonly why: string;
  readonly mend: string;
}

export interface Machine {
  readonly devices: readonly FoundDevice[];
  readonly tenants: readonly GpuTenant[];
  readonly engines: readonly FoundEngine[];
  readonly strangers: readonly Stranger[];
  readonly dockers: readonly FoundDocker[];
  readonly shutDockers: readonly ShutDocker[];
}

export const GIB_BYTES = 1024 ** 3;

/** Without more digits than anybody reads. */
export function toGiB(bytes: number): number {
  return Math.round((bytes / GIB_BYTES) * 100) / 100;
}
