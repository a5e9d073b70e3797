// Recorded traffic, read from a store's history: jobs, loads and moves of a range, what was resident at its start, and
// enough before and after it that the range itself begins and ends as it did.

import { readSetup, type Setup } from "../config/setup.ts";
import type { DeviceId, ModelName } from "../domain/ids.ts";
import type { LoadRecord } from "../domain/journal.ts";
import type { History, PastJob, PastMove, PastPage, PastQuery, Range } from "../store/history.ts";

/** Longest run-up before a range, and run-out after it. */
const MARGIN_MS = 6 * 3_600_000;
/** So long a replay goes on before what it did not know (how long the resident had been there) is worn off. */
const RUN_UP_MS = 3_600_000;
/** A job's id is made when its request arrives, its acceptance stamped when its body is there. */
const UPLOAD_MS = 600_000;
const LOOK_BACK_MS = 7 * 86_400_000;
const LOADS_BACK_MS = 90 * 86_400_000;
const PAGE = 2_000;
/** 1.3 KB each while a replay runs, measured over 21,720. */
export const MOST_JOBS = 200_000;

export interface Traffic {
  /** What was asked for; jobs accepted in it are counted. */
  readonly range: Range;
  /** Where a replay starts: where nothing was queued or running, if that can be had. */
  readonly startMs: number;
  /** In order of acceptance. Those outside of `range` only bring about what was there. */
  readonly jobs: readonly PastJob[];
  readonly loads: readonly LoadRecord[];
  /** The last ready loads of each model before `startMs`, oldest first: what the router had learned. */
  readonly learned: readonly LoadRecord[];
  readonly moves: readonly PastMove[];
  readonly setups: readonly { readonly atMs: number; readonly setup: Setup }[];
  /** Loaded at `startMs`. */
  readonly resident: readonly { readonly device: DeviceId; readonly model: ModelName }[];
  /** What a replay leaves out, in sentences. */
  readonly notes: readonly string[];
}

/** The history does not hold what a replay needs; the message says what is missing. */
export class TrafficError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "TrafficError";
  }
}

/** @throws {TrafficError} */
export async function readTraffic(history: History, range: Range, mostJobs = MOST_JOBS): Promise<Traffic> {
  const wide = { fromMs: Math.max(0, range.fromMs - MARGIN_MS), toMs: range.toMs + MARGIN_MS };
  const setups = readSetups(await history.setups(wide));
  const all = await readJobs(history, wide, range, mostJobs);
  const [first] = setups;
  if (all.length === 0) throw new TrafficError("No job was recorded in that time.");
  if (first === undefined)
    throw new TrafficError(
      "The configuration that ran then was not recorded: this version's router writes it down at each start.",
    );
  const byDevice = new Set(
    Object.entries(first.setup.models).flatMap(([name, { usesDevice }]) => (usesDevice ? [name] : [])),
  );
  for (const { setup } of setups.slice(1))
    for (const [name, { usesDevice }] of Object.entries(setup.models)) if (usesDevice) byDevice.add(name);
  const scheduled = all.filter(({ model }) => byDevice.has(model));
  if (scheduled.length === 0) throw new TrafficError("No job for a model on a device was recorded in that time.");
  const startMs = quietBefore(scheduled, Math.max(wide.fromMs, range.fromMs - RUN_UP_MS), wide.fromMs);
  const jobs = withinRunOut(
    scheduled.filter(({ acceptedAtMs }) => acceptedAtMs >= startMs),
    range,
  );
  const endMs = Math.max(range.toMs, jobs.at(-1)?.acceptedAtMs ?? 0) + MARGIN_MS;
  const past = await readPast(history, startMs);
  const loads = await every((query) => history.loads(query), { fromMs: startMs, toMs: endMs });
  const moves = await every((query) => history.moves(query), { fromMs: startMs, toMs: endMs });
  const downtimes = await history.downtimes({ fromMs: range.fromMs, toMs: range.toMs });
  return {
    range,
    startMs,
    jobs,
    loads,
    learned: past.learned,
    moves,
    setups: inForce(setups, startMs),
    resident: past.resident,
    notes: notesOn({ range, startMs, wide, jobs, moves, downtimes, remote: all.length - scheduled.length }),
  };
}

async function readJobs(history: History, wide: Range, range: Range, most: number): Promise<PastJob[]> {
  const found: PastJob[] = [];
  let counted = 0;
  const query = { ...wide, fromMs: Math.max(0, wide.fromMs - UPLOAD_MS) };
  for (let after: string | null = null; ; ) {
    const page: PastPage<PastJob> = await history.jobs({ ...query, after, limit: PAGE });
    for (const job of page.data) {
      if (job.acceptedAtMs < wide.fromMs || job.acceptedAtMs >= wide.toMs) continue;
      found.push(job);
      if (job.acceptedAtMs >= range.fromMs && job.acceptedAtMs < range.toMs) counted++;
    }
    if (counted > most || found.length > 2 * most)
      throw new TrafficError(`More than ${most} jobs were recorded in that time; choose a shorter one.`);
    if (page.next === null) break;
    after = page.next;
  }
  if (counted === 0) return [];
  return found.sort((a, b) => a.acceptedAtMs - b.acceptedAtMs || (a.id < b.id ? -1 : 1));
}

/** The last instant before `fromMs` at which every earlier job had ended; else the first that is known. */
function quietBefore(jobs: readonly PastJob[], fromMs: number, firstMs: number): number {
  let busyUntilMs = firstMs;
  let quietMs: number | null = null;
  for (const { acceptedAtMs, finishedAtMs } of jobs) {
    if (acceptedAtMs >= busyUntilMs && busyUntilMs <= fromMs) quietMs = Math.min(acceptedAtMs, fromMs);
    if (acceptedAtMs > fromMs) break;
    busyUntilMs = Math.max(busyUntilMs, finishedAtMs ?? Number.POSITIVE_INFINITY);
  }
  return quietMs ?? firstMs;
}

/** Jobs up to the end of the range, and those that arrived while they still waited or ran. */
function withinRunOut(jobs: readonly PastJob[], { toMs }: Range): PastJob[] {
  let lastMs = toMs;
  for (const { acceptedAtMs, finishedAtMs } of jobs) {
    if (acceptedAtMs < toMs && finishedAtMs !== null) lastMs = Math.max(lastMs, finishedAtMs);
  }
  return jobs.filter(({ acceptedAtMs }) => acceptedAtMs < lastMs);
}

/** What was learned and loaded before a replay starts. */
async function readPast(history: History, startMs: number): Promise<Pick<Traffic, "learned" | "resident">> {
  const kept = new Map<ModelName, LoadRecord[]>();
  const recent: LoadRecord[] = [];
  const loads = { fromMs: Math.max(0, startMs - LOADS_BACK_MS), toMs: startMs };
  for await (const load of stream((query) => history.loads(query), loads)) {
    if (load.outcome !== "ready") continue;
    const own = kept.get(load.model) ?? [];
    own.push(load);
    if (own.length > LOADS_LEARNED) own.shift();
    kept.set(load.model, own);
    recent.push(load);
    if (recent.length > PAGE) recent.shift();
  }
  const resident = new Map<string, { device: DeviceId; model: ModelName }>();
  const moves = await every((query) => history.moves(query), {
    fromMs: Math.max(0, startMs - LOOK_BACK_MS),
    toMs: startMs,
  });
  const changes = [
    ...recent.map((load) => ({
      atMs: load.endedAtMs,
      device: load.device,
      comes: [load.model],
      goes: [] as readonly ModelName[],
    })),
    ...moves.map((move) => ({ atMs: move.atMs, device: move.device, comes: [], goes: move.evict })),
  ].sort((a, b) => a.atMs - b.atMs);
  for (const { device, comes, goes } of changes) {
    for (const model of goes) resident.delete(`${device} ${model}`);
    for (const model of comes) resident.set(`${device} ${model}`, { device, model });
  }
  return {
    learned: [...kept.values()].flat().sort((a, b) => a.endedAtMs - b.endedAtMs),
    resident: [...resident.values()],
  };
}

/** As many as the engine learns from. */
const LOADS_LEARNED = 5;

function readSetups(records: readonly { atMs: number; setup: unknown }[]): { atMs: number; setup: Setup }[] {
  return records.flatMap(({ atMs, setup }) => {
    const read = readSetup(setup);
    return read === null ? [] : [{ atMs, setup: read }];
  });
}

/** The one that holds at `startMs` (or the first that is known), and each later one. */
function inForce(setups: readonly { atMs: number; setup: Setup }[], startMs: number): Traffic["setups"] {
  const index = Math.max(
    0,
    setups.findLastIndex(({ atMs }) => atMs <= startMs),
  );
  return setups.slice(index);
}

interface Noted {
  readonly range: Range;
  readonly startMs: number;
  readonly wide: Range;
  readonly jobs: readonly PastJob[];
  readonly moves: readonly PastMove[];
  readonly downtimes: readonly Range[];
  readonly remote: number;
}

function notesOn({ range, startMs, wide, jobs, moves, downtimes, remote }: Noted): string[] {
  const notes: string[] = [];
  const inside = moves.filter(({ atMs }) => atMs >= range.fromMs && atMs < range.toMs);
  const by = (reason: string): number => inside.filter((move) => move.reason === reason).length;
  if (startMs === wide.fromMs && startMs < range.fromMs)
    notes.push("There was always work in the hours before; the replay starts in the middle of it.");
  const byHand = by("operator") + by("drain");
  if (byHand > 0)
    notes.push(
      `${byHand === 1 ? "1 move was" : `${byHand} moves were`} asked for by operators; what they did by hand is not repeated.`,
    );
  const preloads = inside.filter(({ kind }) => kind === "preload").length;
  if (preloads > 0) notes.push(`${preloads} loads ahead of need are not repeated.`);
  const downMs = downtimes.reduce((sum, { fromMs, toMs }) => sum + toMs - fromMs, 0);
  if (downtimes.length > 0)
    notes.push(
      `The router was down ${downtimes.length} times, ${(downMs / 1_000).toFixed(0)} s in all; the replay runs through.`,
    );
  if (remote > 0)
    notes.push(`${remote} jobs of models that are always on elsewhere are left out: no device, no swaps.`);
  const lost = jobs.filter(({ runs }) => runs.some(({ outcome }) => outcome === "lost")).length;
  if (lost > 0) notes.push(`${lost} jobs lost their engine; the attempt is repeated, the engine's death is not.`);
  const open = jobs.filter(({ status }) => status === "queued" || status === "running").length;
  if (open > 0) notes.push(`${open} jobs had not ended when this was read; how long they run is guessed.`);
  return notes;
}

type Read<T> = (query: PastQuery) => Promise<PastPage<T>>;

async function* stream<T>(read: Read<T>, range: Range): AsyncGenerator<T> {
  for (let after: string | null = null; ; ) {
    const page: PastPage<T> = await read({ ...range, after, limit: PAGE });
    yield* page.data;
    if (page.next === null) return;
    after = page.next;
  }
}

async function every<T>(read: Read<T>, range: Range): Promise<T[]> {
  const found: T[] = [];
  for await (const each of stream(read, range)) found.push(each);
  return found;
}
