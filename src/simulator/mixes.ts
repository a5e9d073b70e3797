// Four models under steady independent traffic in three bands, from light to more than the device can do.

import { FOUR, type Member } from "./fleets.ts";
import { createSeeded, type Seeded } from "./seeded.ts";
import { type Arrival, arrivalOf, merge, type Workload } from "./workload.ts";

const HOUR_MS = 3_600_000;
const WORK_VARIATION = 0.8;
const WORK_FLOOR_MS = 200;

/** Each model's share of the load, and how its callers divide into interactive and normal; the rest is batch. */
const SHARES: readonly (readonly [share: number, interactive: number, normal: number])[] = [
  [0.3, 0.5, 0.5],
  [0.3, 0.2, 0.6],
  [0.2, 0, 0.3],
  [0.2, 0, 0.5],
];

export interface MixOptions {
  readonly seed: number;
  /** Offered work as a share of what the device does when every model batches to its concurrency, loads not counted. */
  readonly load: number;
  readonly hours: number;
}

/** Poisson arrivals of all four models; after `hours` the queues are served to the end. */
export function poissonMix({ seed, load, hours }: MixOptions): Workload {
  const draw = createSeeded(seed);
  const streams = FOUR.map((member, i) => {
    const [share = 0, interactive = 0, normal = 0] = SHARES[i] ?? [];
    const seeded = draw.fork(member.model.name);
    return stream(member, seeded, { load: load * share, interactive, normal, untilMs: hours * HOUR_MS });
  });
  return {
    name: load > 1 ? `overload-${load}` : `poisson-${load}`,
    source: `four models, Poisson arrivals, ${Math.round(load * 100)} % of the device's work for ${hours} h, seed ${seed}`,
    models: FOUR.map(({ model }) => model),
    arrivals: merge(...streams),
    untilMs: null,
  };
}

function stream(
  { model, meanWorkMs }: Member,
  seeded: Seeded,
  of: { readonly load: number; readonly interactive: number; readonly normal: number; readonly untilMs: number },
): Arrival[] {
  const { concurrency, slowdownPerJob } = model;
  const gapMs = (meanWorkMs * (1 + slowdownPerJob * (concurrency - 1))) / concurrency / of.load;
  const found: Arrival[] = [];
  for (let atMs = seeded.exponential(gapMs); atMs <= of.untilMs; atMs += seeded.exponential(gapMs)) {
    const draw = seeded.uniform(0, 1);
    const priority = draw < of.interactive ? 100 : draw < of.interactive + of.normal ? 0 : -100;
    const workMs = Math.max(WORK_FLOOR_MS, seeded.logNormal(meanWorkMs, WORK_VARIATION));
    found.push(arrivalOf(model, atMs, priority, workMs));
  }
  return found;
}
