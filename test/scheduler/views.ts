// Snapshots in a few words, for tests. Instants are ms from `NOW`-less zero, so that an arrival at 0 and now at 5,000 is a
// wait of five seconds.

import { BANDS, type Band, bandOf } from "../../src/domain/band.ts";
import type { DeviceId, JobId, ModelName } from "../../src/domain/ids.ts";
import { type Ranking, rankOf } from "../../src/domain/ranking.ts";
import type { Expectation, Forecast, PreloadBudget } from "../../src/scheduler/forecast.ts";
import { bindPolicy } from "../../src/scheduler/policies/registry.ts";
import type { BoundPolicy } from "../../src/scheduler/policy.ts";
import type { BandView, DeviceView, Head, ModelView, Resident, Snapshot } from "../../src/scheduler/snapshot.ts";

export const named = (name: string): ModelName => name as ModelName;

/** As most policies rank: a minute a point. */
const AGING: Ranking = { kind: "aging", msPerPoint: 60_000 };

export const jobId = (number: number): JobId => `job_${number.toString(16).padStart(32, "0")}` as JobId;

export interface QueuedJob {
  readonly id?: number;
  readonly atMs: number;
  readonly priority?: number;
}

/** The views that a queue of these jobs gives, with ranks as `policy` makes them. */
export function queueOf(
  jobs: readonly QueuedJob[],
  ranking: Ranking,
): Pick<ModelView, "depth" | "bands" | "head" | "oldest"> {
  const heads = jobs.map(({ id, atMs, priority = 0 }, index): Head => {
    return {
      id: jobId(id ?? atMs * 100 + index),
      priority,
      rank: rankOf(ranking, { acceptedAtMs: atMs, priority }),
      acceptedAtMs: atMs,
    };
  });
  const least = (all: readonly Head[], key: (head: Head) => number): Head | null =>
    all.reduce<Head | null>(
      (best, each) =>
        best === null || key(each) < key(best) || (key(each) === key(best) && each.id < best.id) ? each : best,
      null,
    );
  const oldest = (all: readonly Head[]): Head | null => least(all, (head) => head.acceptedAtMs);
  const bands = {} as Record<Band, BandView>;
  for (const band of BANDS) {
    const within = heads.filter(({ priority }) => bandOf(priority) === band);
    const acceptedAtMsSum = within.reduce((sum, each) => sum + each.acceptedAtMs, 0);
    bands[band] = {
      depth: within.length,
      acceptedAtMsSum,
      oldest: oldest(within),
      arrivals: { value: within.length, atMs: 0 },
      waitedMsAtLoad: 0,
    };
  }
  return { depth: heads.length, bands, head: least(heads, (head) => head.rank), oldest: oldest(heads) };
}

/** A model called `name`, idle, healthy, 8 s to load, unless said otherwise. `jobs` are its queue. */
export function model(
  name: string,
  { jobs = [], ranking = AGING, ...rest }: Partial<ModelView> & { jobs?: readonly QueuedJob[]; ranking?: Ranking } = {},
): ModelView {
  return {
    model: named(name),
    order: name.charCodeAt(0),
    priority: 1,
    ...queueOf(jobs, ranking),
    inFlight: 0,
    slots: 8,
    loadMs: 8_000,
    unloadMs: 500,
    service: { aloneMs: 2_000, slowdownPerJob: 0.05 },
    lastArrivalAtMs: null,
    unvisitedSinceMs: null,
    deadline: null,
    memoryGiB: null,
    retryAtMs: 0,
    broken: false,
    paused: false,
    pinned: false,
    unloadAfterMs: null,
    wanted: null,
    ...rest,
  };
}

export function resident(name: string, rest: Partial<Resident> = {}): Resident {
  return { model: named(name), sinceMs: 0, idleSinceMs: null, dispatched: 1, forced: false, ...rest };
}

export function snapshot(nowMs: number, models: readonly ModelView[], device: Partial<DeviceView> = {}): Snapshot {
  return {
    nowMs,
    models,
    device: {
      device: "gpu0" as DeviceId,
      memoryGiB: null,
      residents: [],
      transition: null,
      paused: false,
      blockedUntilMs: 0,
      budget: null,
      busyShare: { share: 0, atMs: 0, busy: false },
      eventAtMs: 0,
      ...device,
    },
  };
}

/** Ten jobs at `dueAtMs`, nine times out of ten; a load for them pays from five minutes before to two after. */
export function expectedAt(dueAtMs: number, rest: Partial<Expectation> & { readonly burst?: number } = {}): Forecast {
  const { burst = 10, ...more } = rest;
  const open = { fromMs: dueAtMs - 300_000, untilMs: dueAtMs + 120_000, actsFromMs: 0 };
  return { burst, expected: [{ source: "hint", dueAtMs, probability: 0.9, hint: null, ...open, ...more }] };
}

export const BUDGET: PreloadBudget = { leftMs: 600_000, atMs: 0, share: 0.05, mostMs: 1_200_000, price: 0.25 };

export const MODEL_SCORE: BoundPolicy = bindPolicy("model-score", {});
