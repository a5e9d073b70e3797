// `sir init --measure`: loads each model once and unloads it again, so that what it takes is known and not guessed. Only
// after somebody agreed; a model that is loaded already is left as it is.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Backend } from "../backends/backend.ts";
import { entry } from "../config/config-text.ts";
import { loadConfig } from "../config/load.ts";
import type { ResolvedConfig } from "../config/resolved.ts";
import { toGiB } from "../discovery/found.ts";
import { listAt, numberAt, textAt } from "../discovery/json-reading.ts";
import { Site } from "../discovery/site.ts";
import type { InstanceId, ModelName } from "../domain/ids.ts";
import type { Io } from "./command.ts";
import type { Candidate } from "./init-models.ts";

const GRACE_MS = 60_000;

interface Measured {
  readonly loadSeconds: number;
  /** Null: the engine does not say. */
  readonly memoryGiB: number | null;
}

/** @param text the configuration with its guesses: what is loaded is what it says */
export async function measured(candidates: readonly Candidate[], text: string, io: Io): Promise<readonly Candidate[]> {
  const config = await read(text, io);
  const stop = new AbortController();
  const deaf = io.onSignal("SIGINT", () => stop.abort());
  const found = new Map<string, Measured>();
  try {
    for (const { driver, members } of config.backends) {
      if (!driver.usesDevice) continue;
      const backend = driver.create(members, { clock: io.clock, environment: io.environment });
      try {
        for (const { spec } of members) {
          const candidate = candidates.find(({ name }) => name === spec.name);
          if (stop.signal.aborted || candidate === undefined) continue;
          const numbers = await measureOne(candidate, spec.name, backend, io, stop.signal);
          if (numbers !== null) found.set(spec.name, numbers);
        }
      } finally {
        await backend.close();
      }
    }
  } finally {
    deaf();
  }
  return candidates.map((each) => withNumbers(each, found.get(each.name)));
}

async function read(text: string, io: Io): Promise<ResolvedConfig> {
  const folder = mkdtempSync(join(tmpdir(), "sir-init-"));
  const config = join(folder, "sir.config.ts");
  try {
    writeFileSync(config, text);
    return await loadConfig({ cwd: folder, environment: io.environment, flags: { config } });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measureOne(
  { name, engine }: Candidate,
  model: ModelName,
  backend: Backend,
  io: Io,
  signal: AbortSignal,
): Promise<Measured | null> {
  if (engine?.models.some((each) => each.name === name && each.loadedGiB !== null)) {
    io.say(`  ${name}: loaded already, and left so; its load time stays a guess`);
    return null;
  }
  const placement = { instance: "ins_init" as InstanceId, model, device: null, epoch: 0 };
  const beganMs = io.clock.nowMs();
  try {
    const { endpoint } = await backend.start(placement, () => undefined, signal);
    const loadSeconds = Math.max(1, Math.ceil((io.clock.nowMs() - beganMs) / 1_000));
    const memoryGiB = engine?.kind === "ollama" ? await heldByOllama(engine.origin, name) : null;
    await backend.stop({ ...placement, endpoint }, GRACE_MS, new AbortController().signal);
    io.say(`  ${name}: ${loadSeconds}\u00a0s${memoryGiB === null ? "" : `, ${memoryGiB}\u00a0GiB`}`);
    return { loadSeconds, memoryGiB };
  } catch (error) {
    io.say(`  ${name}: not measured: ${error instanceof Error ? error.message : String(error)}`);
    return null;
  }
}

async function heldByOllama(origin: string, name: string): Promise<number | null> {
  const running = listAt(await new Site(origin).json("/api/ps"), "models") ?? [];
  const bytes = numberAt(
    running.find((each) => textAt(each, "name") === name),
    "size",
  );
  return bytes === null || bytes <= 0 ? null : Math.max(0.5, Math.ceil(toGiB(bytes) * 2) / 2);
}

function withNumbers(candidate: Candidate, numbers: Measured | undefined): Candidate {
  if (numbers === undefined) return candidate;
  const { loadSeconds, memoryGiB } = numbers;
  const entries = candidate.entries.map((each) => {
    if (each.key === "loadSeconds") return entry("loadSeconds", loadSeconds, "Measured by `sir init --measure`.");
    if (each.key !== "memoryGiB" || memoryGiB === null) return each;
    return entry("memoryGiB", memoryGiB, "Measured by `sir init --measure`.");
  });
  return { ...candidate, entries, loadSeconds, memoryGiB: memoryGiB ?? candidate.memoryGiB };
}
