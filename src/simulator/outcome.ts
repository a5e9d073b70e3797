// What became of traffic, recorded or replayed, in one shape, so that both sides of a comparison are counted by the same
// arithmetic. Instants are router time.

import type { JobStatus } from "../domain/job.ts";
import type { PastJob, Range } from "../store/history.ts";
import type { Traffic } from "./traffic.ts";

export interface JobOutcome {
  readonly id: string;
  readonly model: string;
  readonly priority: number;
  readonly acceptedAtMs: number;
  readonly deadlineAtMs: number | null;
  /** First start; null: it never ran. */
  startedAtMs: number | null;
  finishedAtMs: number | null;
  status: JobStatus;
}

/** A stretch in which a device did one thing for one model. */
export interface Spell {
  readonly device: string;
  readonly model: string;
  readonly kind: "loading" | "unloading" | "resident";
  readonly fromMs: number;
  readonly toMs: number;
}

export interface Outcome {
  readonly title: string;
  /** All that were counted, in order of acceptance. */
  readonly jobs: readonly JobOutcome[];
  readonly spells: readonly Spell[];
  /** Decisions in the range to unload one model for another. */
  readonly swaps: number;
  readonly loads: number;
  readonly range: Range;
  readonly devices: number;
}

export const isCounted = ({ acceptedAtMs }: Pick<PastJob, "acceptedAtMs">, { fromMs, toMs }: Range): boolean =>
  acceptedAtMs >= fromMs && acceptedAtMs < toMs;

/** What happened. */
export function recordedOutcome(traffic: Traffic): Outcome {
  const { range } = traffic;
  const jobs = traffic.jobs.filter((job) => isCounted(job, range)).map(outcomeOf);
  const begun = traffic.loads.filter(({ startedAtMs }) => startedAtMs >= range.fromMs && startedAtMs < range.toMs);
  return {
    title: "recorded",
    jobs,
    spells: recordedSpells(traffic),
    swaps: traffic.moves.filter(({ kind, atMs }) => kind === "swap" && atMs >= range.fromMs && atMs < range.toMs)
      .length,
    loads: begun.filter(({ outcome }) => outcome === "ready").length,
    range,
    devices: deviceCount(traffic),
  };
}

export function deviceCount({ setups }: Traffic): number {
  return Math.max(1, Object.keys(setups[0]?.setup.devices ?? {}).length);
}

function outcomeOf({
  id,
  model,
  priority,
  status,
  acceptedAtMs,
  deadlineAtMs,
  finishedAtMs,
  runs,
}: PastJob): JobOutcome {
  const startedAtMs = runs[0]?.startedAtMs ?? null;
  return { id, model, priority, status, acceptedAtMs, deadlineAtMs, startedAtMs, finishedAtMs };
}

/**
 * An unload has no record of its own: it lasts from the decision, or the last end of the model's jobs after it, to the
 * begin of the load that it made room for.
 */
export function recordedUnloads(traffic: Traffic): readonly Spell[] {
  const loadOf = new Map(traffic.loads.flatMap((load) => (load.decision === null ? [] : [[load.decision, load]])));
  const ends = lastEnds(traffic.jobs);
  return traffic.moves.flatMap((move) => {
    const load = loadOf.get(move.id);
    if (load === undefined) return [];
    return move.evict.map((model): Spell => {
      const lastMs = ends(model, load.startedAtMs);
      const fromMs = Math.min(load.startedAtMs, Math.max(move.atMs, lastMs));
      return { device: move.device, model, kind: "unloading", fromMs, toMs: load.startedAtMs };
    });
  });
}

/** When a model's last run before an instant ended. */
function lastEnds(jobs: readonly PastJob[]): (model: string, beforeMs: number) => number {
  const byModel = new Map<string, number[]>();
  for (const { model, runs } of jobs) {
    const ends = byModel.get(model) ?? [];
    for (const { endedAtMs } of runs) if (endedAtMs !== null) ends.push(endedAtMs);
    byModel.set(model, ends);
  }
  for (const ends of byModel.values()) ends.sort((a, b) => a - b);
  return (model, beforeMs) => {
    const ends = byModel.get(model) ?? [];
    let low = 0;
    for (let high = ends.length; low < high; ) {
      const middle = (low + high) >> 1;
      if ((ends[middle] ?? 0) <= beforeMs) low = middle + 1;
      else high = middle;
    }
    return ends[low - 1] ?? Number.NEGATIVE_INFINITY;
  };
}

function recordedSpells(traffic: Traffic): Spell[] {
  const spells: Spell[] = [...recordedUnloads(traffic)];
  for (const { device, model, startedAtMs, endedAtMs } of traffic.loads)
    spells.push({ device, model, kind: "loading", fromMs: startedAtMs, toMs: endedAtMs });
  const leaves = [...traffic.moves].filter(({ evict }) => evict.length > 0);
  const comes = [
    ...traffic.resident.map(({ device, model }) => ({ device, model, atMs: traffic.startMs })),
    ...traffic.loads
      .filter(({ outcome }) => outcome === "ready")
      .map(({ device, model, endedAtMs }) => ({ device, model, atMs: endedAtMs })),
  ];
  for (const { device, model, atMs } of comes) {
    const gone = leaves.find((move) => move.atMs >= atMs && move.device === device && move.evict.includes(model));
    spells.push({ device, model, kind: "resident", fromMs: atMs, toMs: gone?.atMs ?? traffic.range.toMs });
  }
  return spells;
}
