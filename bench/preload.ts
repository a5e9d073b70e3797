// What loading ahead of need brings: fourteen days of a home server with habits, and of one without, through the live
// engine in virtual time; the last five days are scored. Virtual time is exact, so nothing here depends on the machine.

import { LOCAL_CALLER, type ModelName } from "../src/domain/ids.ts";
import type { Simulation } from "../src/simulator/assembly.ts";
import { homelab } from "../src/simulator/homelab.ts";
import { HABITS, patterned } from "../src/simulator/patterned.ts";
import { replay } from "../src/simulator/replay.ts";
import type { Workload } from "../src/simulator/workload.ts";
import type { Bench, Figure, Stage } from "./figure.ts";

const DAYS = 14;
const SCORED_DAYS = 5;
const DAY_MS = 86_400_000;
const SEEDS = [1, 2] as const;
const POLICY = "stint";

type Variant = "off" | "auto" | "hints" | "auto and hints";

interface Outcome {
  /** Waits until the first start, weighted 10 : 1 : 0.1 by band, in seconds. */
  readonly waitSeconds: number;
  readonly loads: number;
  readonly hits: number;
  readonly misses: number;
}

export const preloadBench: Bench = {
  name: "preload",
  title: `Loading ahead of need: ${DAYS} days, the last ${SCORED_DAYS} scored, policy ${POLICY}`,
  async run(stage) {
    const figures: Figure[] = [];
    for (const seed of SEEDS) {
      figures.push(
        ...(await compared(patterned({ seed, days: DAYS }), seed, ["auto", "hints", "auto and hints"], stage)),
      );
    }
    figures.push(...(await compared(homelab({ seed: 1, hours: 24 * DAYS, times: 1 }), 1, ["auto"], stage)));
    return figures;
  },
};

async function compared(
  workload: Workload,
  seed: number,
  variants: readonly Exclude<Variant, "off">[],
  { progress }: Stage,
): Promise<Figure[]> {
  const what = `${workload.name}, seed ${seed}`;
  progress(what);
  const off = await outcomeOf(workload, "off");
  const figures: Figure[] = [{ name: `${what}: off`, value: off.waitSeconds, unit: "s", note: `${off.loads} loads` }];
  for (const variant of variants) {
    progress(`${what}, ${variant}`);
    const { waitSeconds, loads, hits, misses } = await outcomeOf(workload, variant);
    const share =
      hits + misses === 0 ? "none ahead" : `${Math.round((100 * hits) / (hits + misses))}% of ${hits + misses} used`;
    const change = `${(100 * (waitSeconds / off.waitSeconds - 1)).toFixed(1)}%`;
    const note = `${change}; ${loads} loads, ${share}`;
    figures.push({ name: `${what}: ${variant}`, value: waitSeconds, unit: "s", note });
  }
  return figures;
}

async function outcomeOf(workload: Workload, variant: Variant): Promise<Outcome> {
  const preloading = variant === "off" ? false : variant === "hints" ? "hints" : "auto";
  const told = variant === "hints" || variant === "auto and hints";
  const count = { hit: 0, miss: 0 };
  const settings = { title: variant, scheduler: { policy: POLICY, preloading }, lean: true };
  const run = await replay(workload, settings, {
    prepare: told ? sayHabits : () => Promise.resolve(),
    hear: (event) => {
      if (event.type === "preload") count[event.outcome]++;
    },
  });
  let waited = 0;
  let weights = 0;
  for (const { arrivedAtMs, startedAtMs, priority } of run.jobs) {
    if (arrivedAtMs < (DAYS - SCORED_DAYS) * DAY_MS || startedAtMs === null) continue;
    const weight = priority >= 50 ? 10 : priority <= -50 ? 0.1 : 1;
    weights += weight;
    waited += (weight * (startedAtMs - arrivedAtMs)) / 1_000;
  }
  return { waitSeconds: waited / weights, loads: run.loads.length, hits: count.hit, misses: count.miss };
}

/** Each day's three habits, as their owners would say them; what comes each half hour nobody says. */
async function sayHabits({ engine, clock }: Simulation): Promise<void> {
  for (const [name, atMs] of Object.entries(HABITS)) {
    const nightly = name.startsWith("big");
    const startMs = clock.wallMs() + atMs;
    await engine.hints.add({
      caller: LOCAL_CALLER,
      model: name as ModelName,
      atMs: startMs - 60_000,
      untilMs: startMs + 240_000,
      repeat: "daily",
      jobs: nightly ? 200 : 8,
      priority: nightly ? -100 : 100,
    });
  }
}
