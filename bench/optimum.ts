// The least weighted wait that any schedule of a small instance can have, by dynamic programming over which jobs are done.
// One device, one model at a time, one job at a time, every job of a model equally long; the schedule knows the future,
// but begins no load before a job for it has come.

export interface SmallModel {
  readonly loadMs: number;
  readonly workMs: number;
}

export interface SmallJob {
  readonly atMs: number;
  /** Index of its model. */
  readonly model: number;
  /** What a second of its waiting costs. */
  readonly weight: number;
}

export interface Instance {
  readonly models: readonly SmallModel[];
  /** In order of arrival. */
  readonly jobs: readonly SmallJob[];
}

/**
 * Jobs of one model and one weight: they are done in order of arrival in some best schedule, because two of them can be
 * exchanged without harm.
 */
interface Queue {
  readonly model: number;
  readonly weight: number;
  readonly atMs: readonly number[];
  /** What one more done job adds to a state's number. */
  readonly step: number;
}

/** A way to have done the jobs of a state: no other one is both earlier and cheaper. */
interface Way {
  readonly nowMs: number;
  readonly cost: number;
}

interface State {
  readonly done: readonly number[];
  /** Index of the model that is loaded; -1: none. */
  readonly loaded: number;
  ways: Way[];
}

/**
 * Weight times ms, summed over all jobs, from arrival to start.
 *
 * @param atMost A cost that some schedule is known to have: dearer beginnings are not followed.
 */
export function leastCost(instance: Instance, atMost: number): number {
  const queues = queuesOf(instance);
  let layer = new Map<number, State>([[-1, { done: queues.map(() => 0), loaded: -1, ways: [{ nowMs: 0, cost: 0 }] }]]);
  for (let served = 0; served < instance.jobs.length; served++) {
    const next = new Map<number, State>();
    for (const state of layer.values()) extend(state, instance, queues, atMost, next);
    layer = next;
  }
  let least = Number.POSITIVE_INFINITY;
  for (const { ways } of layer.values()) for (const { cost } of ways) least = Math.min(least, cost);
  return least;
}

function queuesOf({ jobs }: Instance): Queue[] {
  const found = new Map<string, { model: number; weight: number; atMs: number[] }>();
  for (const { atMs, model, weight } of jobs) {
    const key = `${model}|${weight}`;
    const queue = found.get(key) ?? { model, weight, atMs: [] };
    queue.atMs.push(atMs);
    found.set(key, queue);
  }
  let step = 1;
  return [...found.values()].map((queue) => {
    const own = { ...queue, step };
    step *= queue.atMs.length + 1;
    return own;
  });
}

function extend(
  { done, loaded, ways }: State,
  { models }: Instance,
  queues: readonly Queue[],
  atMost: number,
  next: Map<number, State>,
): void {
  for (const [i, queue] of queues.entries()) {
    const atMs = queue.atMs[done[i] ?? 0];
    const model = models[queue.model];
    if (atMs === undefined || model === undefined) continue;
    const wantedAtMs = firstWanted(queues, done, queue.model);
    const after = done.with(i, (done[i] ?? 0) + 1);
    for (const { nowMs, cost } of ways) {
      const readyMs = loaded === queue.model ? nowMs : Math.max(nowMs, wantedAtMs) + model.loadMs;
      const startMs = Math.max(readyMs, atMs);
      const way = { nowMs: startMs + model.workMs, cost: cost + queue.weight * (startMs - atMs) };
      if (way.cost + stillToPay(queues, after, way.nowMs) > atMost + 1e-6) continue;
      keep(next, after, queue.model, queues, way);
    }
  }
}

/** When the first job for the model came that is not done. */
function firstWanted(queues: readonly Queue[], done: readonly number[], model: number): number {
  let firstMs = Number.POSITIVE_INFINITY;
  for (const [i, queue] of queues.entries()) {
    if (queue.model === model) firstMs = Math.min(firstMs, queue.atMs[done[i] ?? 0] ?? Number.POSITIVE_INFINITY);
  }
  return firstMs;
}

/** What the jobs that are left have waited already. */
function stillToPay(queues: readonly Queue[], done: readonly number[], nowMs: number): number {
  let cost = 0;
  for (const [i, { atMs, weight }] of queues.entries()) {
    for (let k = done[i] ?? 0; k < atMs.length; k++) {
      const waited = nowMs - (atMs[k] ?? nowMs);
      if (waited <= 0) break;
      cost += weight * waited;
    }
  }
  return cost;
}

function keep(
  next: Map<number, State>,
  done: readonly number[],
  loaded: number,
  queues: readonly Queue[],
  way: Way,
): void {
  const number = done.reduce((sum, count, i) => sum + count * (queues[i]?.step ?? 0), 0);
  const key = number * 16 + loaded;
  const state = next.get(key);
  if (state === undefined) {
    next.set(key, { done, loaded, ways: [way] });
    return;
  }
  if (state.ways.some((other) => other.nowMs <= way.nowMs && other.cost <= way.cost)) return;
  state.ways = state.ways.filter((other) => other.nowMs < way.nowMs || other.cost < way.cost);
  state.ways.push(way);
}
