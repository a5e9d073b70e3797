// From what an engine serves to a model's entry in a configuration, with a reason for each number that is a guess.

import { Block, block, type Entry, entry, GUESS } from "../config/config-text.ts";
import {
  type FoundCache,
  type FoundContainer,
  type FoundEngine,
  type FoundModel,
  TITLES,
  toGiB,
} from "../discovery/found.ts";

const USUAL_SLOTS = 4;
/** OLLAMA_NUM_PARALLEL, unless it is set. */
const OLLAMA_SLOTS = 1;
/**
 * Tokens of context that Ollama gives a model when nobody says, by the memory of its GPUs in GiB. Its own steps are 23 and
 * 47; a device here offers a little less than it has.
 */
const OLLAMA_CONTEXTS: readonly (readonly [fromGiB: number, tokens: number])[] = [
  [46, 262_144],
  [22, 32_768],
  [0, 4_096],
];
const WEIGHTS_FACTOR = 1.15;
/** What one conversation's cache is taken for when the engine does not describe the model. */
const USUAL_CACHE_GIB = 0.5;
/** A disk of today, and what an engine does besides reading. */
const GIB_PER_SECOND = 1.4;
const LOAD_SECONDS = 10;
/** A container's start. */
const CONTAINER_SECONDS = 60;
/** When nothing is known of a model's size. */
const UNKNOWN_LOAD_SECONDS = 60;

/** Of an engine that is used as it runs. */
export const UNMOVED = "SIR passes requests on: it does not load or unload this, nor know what it takes of the GPU.";

/** One model that may be written into the configuration. */
export interface Candidate {
  readonly name: string;
  /** Where it is, for people: `ollama`, `vllm on :8000`. */
  readonly where: string;
  /** Other names that it is asked for by. */
  readonly aliases: readonly string[];
  readonly engine: FoundEngine | null;
  readonly container: FoundContainer | null;
  /** Takes part in loads and evictions. */
  readonly usesDevice: boolean;
  readonly memoryGiB: number | null;
  readonly loadSeconds: number;
  readonly entries: readonly Entry[];
  readonly backend: Block;
  /** Comment before `backend`; empty: none. */
  readonly backendNote: string;
}

const DEFAULT_ORIGINS: Readonly<Record<string, string>> = {
  ollama: "http://127.0.0.1:11434",
  lmstudio: "http://127.0.0.1:1234",
  "llama-server": "http://127.0.0.1:8080",
  "llama-swap": "http://127.0.0.1:8080",
};

/** @param deviceGiB what the device offers; null: not known, or there is no device */
export function modelOn(engine: FoundEngine, model: FoundModel, deviceGiB: number | null): Candidate {
  const title = TITLES[engine.kind] ?? engine.kind;
  const where = `${title} on ${addressText(engine.origin)}`;
  const concurrency = slotsEntry(engine.slots, title);
  const base = {
    name: model.name,
    aliases: shortNames(engine, model),
    where,
    engine,
    container: null,
    backendNote: "",
  };
  if (!engine.loads) {
    const backend = block({ driver: "remote", baseUrl: `${engine.origin}/v1` });
    const alone = { usesDevice: false, memoryGiB: null, loadSeconds: 0, entries: [concurrency], backend };
    return { ...base, ...alone, backendNote: isHere(engine.origin) ? unmovedNote(engine.kind) : "" };
  }
  const size = memoryOf(model, engine.slots ?? usualSlots(title), deviceGiB);
  const large = size !== null && deviceGiB !== null && size.gib > deviceGiB;
  const loadSeconds = loadSecondsOf(model.weightsGiB);
  const memory = memoryEntries(size, large, deviceGiB);
  const baseUrl = DEFAULT_ORIGINS[engine.kind] === engine.origin ? undefined : engine.origin;
  // Without a GPU, or with too small a one, Ollama works from main memory, which it would otherwise be refused.
  const allowCpu = engine.kind === "ollama" && (large || deviceGiB === null) ? true : undefined;
  return {
    ...{ ...base, usesDevice: true, memoryGiB: large ? null : (size?.gib ?? null), loadSeconds },
    entries: [...memory, loadEntry(loadSeconds, model.weightsGiB, 0), concurrency],
    backend: block({ driver: engine.kind, baseUrl, allowCpu }),
    backendNote: allowCpu === true ? cpuNote(size, deviceGiB) : "",
  };
}

/** A model whose container the router may start and stop. */
export function modelIn(
  container: FoundContainer,
  name: string,
  aliases: readonly string[],
  slots: number | null,
): Candidate {
  const loadSeconds = UNKNOWN_LOAD_SECONDS + CONTAINER_SECONDS;
  const dockerHost = container.dockerHost === "unix:///var/run/docker.sock" ? undefined : container.dockerHost;
  const port = container.port === 8_000 ? undefined : container.port;
  return {
    ...{ name, aliases, where: `Container ${container.name}`, engine: null, container, backendNote: "" },
    ...{ usesDevice: true, memoryGiB: null, loadSeconds },
    entries: [
      loadEntry(loadSeconds, null, CONTAINER_SECONDS),
      slotsEntry(slots, TITLES[container.engine] ?? container.engine),
    ],
    backend: block({ driver: "vllm-docker", existing: true, containerName: container.name, port, dockerHost }),
  };
}

export function modelEntry({ name, aliases, entries, backend, backendNote, where }: Candidate): Entry {
  const named = aliases.length === 0 ? [] : [entry("aliases", aliases)];
  const rows: Entry[] = [...named, ...entries, entry("backend", backend, ...(backendNote === "" ? [] : [backendNote]))];
  return entry(name, new Block(rows), `${where}.`);
}

const isHere = (origin: string): boolean => new URL(origin).hostname === "127.0.0.1";

/** Whose engine stands on this machine, and likely on its GPU, and is out of the router's reach. */
function unmovedNote(kind: FoundEngine["kind"]): string {
  const drivers = kind === "vllm" ? "vllm-docker, vllm-sleep or process" : "process";
  return `${UNMOVED} To have it make room for others, let SIR start it: driver ${drivers}.`;
}

function cpuNote(size: Size | null, deviceGiB: number | null): string {
  if (deviceGiB === null)
    return "Without a known GPU Ollama works from main memory, which would else count as a failed load.";
  return `${GUESS}: about ${size?.gib ?? 0} GiB, more than the device has: Ollama puts the rest into main memory, and is slow.`;
}

interface Size {
  readonly gib: number;
  readonly why: string;
}

function memoryOf({ weightsGiB, cache, loadedGiB }: FoundModel, slots: number, deviceGiB: number | null): Size | null {
  if (loadedGiB !== null) return { gib: roundUp(loadedGiB), why: "what it holds at this moment, while it is loaded." };
  if (weightsGiB === null) return null;
  const tokens = cache === null ? null : contextOf(cache, deviceGiB);
  const eachGiB = cache === null || tokens === null ? USUAL_CACHE_GIB : toGiB(cache.bytesPerToken * tokens);
  const gib = roundUp(weightsGiB * WEIGHTS_FACTOR + eachGiB * slots);
  const context = tokens === null ? "taken for" : `for ${tokens} tokens:`;
  const requests = slots === 1 ? "one request" : `each of ${slots} requests`;
  return { gib, why: `1.15 x ${weightsGiB} GiB of weights, and cache for ${requests}, ${context} ${eachGiB} GiB.` };
}

function contextOf({ tokens, mostTokens }: FoundCache, deviceGiB: number | null): number {
  const usual = OLLAMA_CONTEXTS.find(([fromGiB]) => (deviceGiB ?? 0) >= fromGiB)?.[1] ?? 4_096;
  return Math.min(tokens ?? usual, mostTokens ?? Number.POSITIVE_INFINITY);
}

/** Ollama answers to a name without its tag when that is `latest`, and clients ask for it so. */
function shortNames({ kind }: FoundEngine, { name }: FoundModel): readonly string[] {
  return kind === "ollama" && name.endsWith(":latest") ? [name.slice(0, -":latest".length)] : [];
}

function memoryEntries(size: Size | null, large: boolean, deviceGiB: number | null): Entry[] {
  if (size === null || large) return [];
  if (deviceGiB === null) return [];
  return [entry("memoryGiB", size.gib, `${GUESS}: ${size.why}`)];
}

export function loadSecondsOf(weightsGiB: number | null): number {
  if (weightsGiB === null) return UNKNOWN_LOAD_SECONDS;
  return Math.ceil(weightsGiB / GIB_PER_SECOND + LOAD_SECONDS);
}

function loadEntry(loadSeconds: number, weightsGiB: number | null, containerSeconds: number): Entry {
  const container = `${containerSeconds} s for its container`;
  const why =
    weightsGiB === null
      ? `its size is not known${containerSeconds === 0 ? "" : `; ${container} are in it`}.`
      : `${weightsGiB} GiB at ${GIB_PER_SECOND} GiB a second, and ${LOAD_SECONDS} s${containerSeconds === 0 ? "" : ` and ${container}`}.`;
  return entry("loadSeconds", loadSeconds, `${GUESS}: ${why} Loads that were measured replace it.`);
}

const usualSlots = (kind: string): number => (kind === TITLES["ollama"] ? OLLAMA_SLOTS : USUAL_SLOTS);

function slotsEntry(slots: number | null, kind: string): Entry {
  if (slots !== null) return entry("concurrency", slots);
  const why =
    kind === TITLES["ollama"]
      ? "one at a time, unless OLLAMA_NUM_PARALLEL is set for Ollama."
      : `${kind} does not say how many requests it takes at once.`;
  return entry("concurrency", usualSlots(kind), `${GUESS}: ${why}`);
}

const roundUp = (gib: number): number => Math.ceil(gib * 2) / 2;

export function addressText(origin: string): string {
  const { hostname, port } = new URL(origin);
  return hostname === "127.0.0.1" || hostname === "localhost" ? `:${port}` : `${hostname}:${port}`;
}
