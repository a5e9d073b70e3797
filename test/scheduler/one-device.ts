// One device run through `decide` alone: a tiny event loop in virtual time, written from the words of the founding table,
// so that the engine is not needed to judge a policy. Times in ms.

import type { DecisionReason } from "../../src/domain/decision.ts";
import { rankOf } from "../../src/domain/ranking.ts";
import { decide } from "../../src/scheduler/decide.ts";
import type { BoundPolicy } from "../../src/scheduler/policy.ts";
import type { ModelView, Resident, Snapshot } from "../../src/scheduler/snapshot.ts";
import { model, named, queueOf, resident as residency, snapshot } from "./views.ts";

export interface RunModel {
  readonly name: string;
  readonly loadMs: number;
  readonly unloadMs?: number;
  readonly runMs: number;
  readonly slots?: number;
  readonly priority?: number;
}

export interface RunJob {
  readonly model: string;
  readonly atMs: number;
  readonly priority?: number;
  readonly runMs?: number;
  /** Given by `run`, in order of arrival. */
  id?: number;
  startedAtMs?: number;
  doneAtMs?: number;
  order?: number;
}

export interface Moved {
  readonly atMs: number;
  readonly from: string | null;
  readonly to: string;
  readonly reason: DecisionReason;
  readonly scores: readonly [number | null, number | null];
  readonly readyAtMs: number;
  /** Jobs started before the next move. */
  served: number;
}

export interface Run {
  readonly jobs: readonly RunJob[];
  readonly moves: readonly Moved[];
  readonly swaps: number;
  readonly loads: number;
  readonly loadingMs: number;
  readonly passes: number;
}

interface World {
  readonly policy: BoundPolicy;
  readonly models: readonly RunModel[];
  readonly queues: Map<string, RunJob[]>;
  readonly left: Map<string, number>;
  nowMs: number;
  resident: Resident | null;
  flight: RunJob[];
}

/**
 * @param tickMs Passes at arrivals and so often, as in the founding essay; absent: at arrivals, completions and next looks.
 */
export function run(
  policy: BoundPolicy,
  models: readonly RunModel[],
  arrivals: readonly RunJob[],
  { untilMs, tickMs }: { untilMs: number; tickMs?: number },
): Run {
  const jobs = arrivals.map((each) => ({ ...each })).sort((a, b) => a.atMs - b.atMs);
  jobs.forEach((each, i) => {
    each.id = i + 1;
  });
  const world: World = { policy, models, queues: new Map(), left: new Map(), nowMs: 0, resident: null, flight: [] };
  for (const { name } of models) world.queues.set(name, []);
  const moves: Moved[] = [];
  let arrived = 0;
  let started = 0;
  let passes = 0;
  const admit = (): void => {
    for (let next = jobs[arrived]; next !== undefined && next.atMs <= world.nowMs; next = jobs[++arrived]) {
      world.queues.get(next.model)?.push(next);
    }
  };
  admit();
  while (world.nowMs < untilMs) {
    passes++;
    settle(world);
    let verdict = decide(look(world), policy);
    for (let serve = verdict.serve; serve > 0 && verdict.load === null; serve = verdict.serve) {
      const count = start(world, serve, started);
      started += count;
      const last = moves.at(-1);
      if (last !== undefined) last.served += count;
      if (count === 0 || serve === Number.POSITIVE_INFINITY) break;
      verdict = decide(look(world), policy);
    }
    if (verdict.load !== null) {
      const atMs = world.nowMs;
      const from = world.resident?.model ?? null;
      const scoreOf = (name: string | null): number | null =>
        verdict.models.find((each) => each.model === name)?.score ?? null;
      const scores = [scoreOf(verdict.load), scoreOf(from)] as const;
      carryOut(world, verdict.load, verdict.reason === "ceiling");
      moves.push({ atMs, from, to: verdict.load, reason: verdict.reason, scores, readyAtMs: world.nowMs, served: 0 });
      admit();
      continue;
    }
    // The verdict that allowed the starts is older than they are: look once more for when to wake.
    const after = decide(look(world), policy);
    const nextArrivalMs = jobs[arrived]?.atMs ?? Number.POSITIVE_INFINITY;
    const wakeMs =
      tickMs === undefined
        ? Math.min(after.nextLookAtMs ?? Number.POSITIVE_INFINITY, ...world.flight.map((each) => each.doneAtMs ?? 0))
        : world.nowMs + tickMs;
    if (after.load !== null && tickMs === undefined) continue;
    world.nowMs = Math.min(wakeMs, nextArrivalMs, untilMs);
    admit();
  }
  settle(world);
  const loadingMs = moves.reduce((sum, { to }) => sum + (models.find(({ name }) => name === to)?.loadMs ?? 0), 0);
  const swaps = moves.filter(({ from }) => from !== null).length;
  return { jobs, moves, swaps, loads: moves.length, loadingMs, passes };
}

/** Lets finished work leave, and notes since when the resident has been idle. */
function settle(world: World): void {
  world.flight = world.flight.filter((each) => (each.doneAtMs ?? 0) > world.nowMs);
  if (world.resident === null) return;
  const busy = world.flight.length > 0 || (world.queues.get(world.resident.model)?.length ?? 0) > 0;
  world.resident = { ...world.resident, idleSinceMs: busy ? null : (world.resident.idleSinceMs ?? world.nowMs) };
}

function look(world: World): Snapshot {
  const views = world.models.map((each, order): ModelView => {
    const queue = (world.queues.get(each.name) ?? []).map(({ id = 0, atMs, priority = 0 }) => ({ id, atMs, priority }));
    const leftAtMs = world.left.get(each.name);
    return {
      ...model(each.name),
      ...queueOf(queue, world.policy.ranking),
      order,
      priority: each.priority ?? 1,
      slots: each.slots ?? 8,
      loadMs: each.loadMs,
      inFlight: world.resident?.model === each.name ? world.flight.length : 0,
      ...(leftAtMs === undefined ? {} : { leftAtMs }),
    };
  });
  return snapshot(world.nowMs, views, {
    residents: world.resident === null ? [] : [world.resident],
    eventAtMs: world.nowMs,
  });
}

/** Starts up to `limit` of the resident's jobs in their order; how many. */
function start(world: World, limit: number, startedSoFar: number): number {
  const here = world.models.find(({ name }) => name === world.resident?.model);
  const queue = here === undefined ? undefined : world.queues.get(here.name);
  if (here === undefined || queue === undefined || world.resident === null) return 0;
  const rank = (job: RunJob): number =>
    rankOf(world.policy.ranking, { acceptedAtMs: job.atMs, priority: job.priority ?? 0 });
  let count = 0;
  while (count < limit && queue.length > 0 && world.flight.length < (here.slots ?? 8)) {
    const next = queue.reduce((best, each) => (rank(each) < rank(best) ? each : best));
    queue.splice(queue.indexOf(next), 1);
    next.startedAtMs = world.nowMs;
    next.doneAtMs = world.nowMs + (next.runMs ?? here.runMs);
    next.order = startedSoFar + count;
    world.flight.push(next);
    count++;
  }
  world.resident = { ...world.resident, dispatched: world.resident.dispatched + count };
  return count;
}

/** Drains, unloads and loads in one go. */
function carryOut(world: World, to: string, forced: boolean): void {
  for (const each of world.flight) world.nowMs = Math.max(world.nowMs, each.doneAtMs ?? 0);
  world.flight = [];
  const spec = (name: string | undefined): RunModel | undefined => world.models.find((each) => each.name === name);
  if (world.resident !== null) {
    world.nowMs += spec(world.resident.model)?.unloadMs ?? 500;
    world.left.set(world.resident.model, world.nowMs);
  }
  world.nowMs += spec(to)?.loadMs ?? 0;
  world.resident = { ...residency(to), model: named(to), sinceMs: world.nowMs, dispatched: 0, forced };
}

/** Waits until started, ascending; jobs that never started are left out. */
export function waitsOf({ jobs }: Run, name: string): number[] {
  return jobs
    .filter((each) => each.model === name)
    .flatMap(({ startedAtMs, atMs }) => (startedAtMs === undefined ? [] : [startedAtMs - atMs]))
    .sort((a, b) => a - b);
}
