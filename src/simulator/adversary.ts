// Traffic against the rule itself: it watches loads and asks for whatever is not there. And the founding case in which
// two backlogs past the ceiling pass the device to each other and nobody is served.

import { createSeeded } from "./seeded.ts";
import { type Arrival, arrivalOf, type SimulatedModel, simulatedModel, type Workload } from "./workload.ts";

const MINUTE_MS = 60_000;
const LOAD_MS = 5 * MINUTE_MS;
/** After each load its model is asked for every so often, for so long. */
const EVERY_MS = 20_000;
const FOR_MS = 2 * MINUTE_MS;
const HOURS_MS = 8 * 60 * MINUTE_MS;
const MEAN_WORK_MS = 3_000;

const TWO = ["left", "right"].map((name) =>
  simulatedModel(name, {
    loadMs: LOAD_MS,
    unloadMs: 2_000,
    concurrency: 16,
    slowdownPerJob: 0.06,
    guessedWorkMs: MEAN_WORK_MS,
  }),
);

/**
 * Right after each load the other model is asked for once, while the loaded one gets a job every 20 s for two minutes; so
 * for eight hours. Whoever answers each wish at once does nothing but load.
 */
export function adversary(seed: number): Workload {
  const [left = simulatedModel("left")] = TWO;
  return {
    name: "adversary",
    source: `asks for the other of two models right after each load (300 s), for 8 h, seed ${seed}`,
    models: TWO,
    arrivals: [arrivalOf(left, 0, 0, MEAN_WORK_MS)],
    react: () => {
      const seeded = createSeeded(seed);
      const job = (model: SimulatedModel, atMs: number): Arrival =>
        arrivalOf(model, atMs, 0, Math.max(200, seeded.logNormal(MEAN_WORK_MS, 0.8)));
      return {
        loaded(name, nowMs) {
          if (nowMs > HOURS_MS) return [];
          const here = TWO.filter((model) => model.name === name);
          const other = TWO.filter((model) => model.name !== name);
          const times = Array.from({ length: FOR_MS / EVERY_MS }, (_, i) => nowMs + i * EVERY_MS);
          return [
            ...other.map((model) => job(model, nowMs)),
            ...here.flatMap((model) => times.map((at) => job(model, at))),
          ];
        },
      };
    },
    untilMs: null,
  };
}

/** Ten jobs in turns for two models whose load takes longer than the founding ceiling: under it none is ever served. */
export function livelock(): Workload {
  const arrivals = Array.from({ length: 10 }, (_, i) =>
    TWO.slice(i % 2, (i % 2) + 1).map((model) => arrivalOf(model, i * 3_000, 0, MEAN_WORK_MS)),
  );
  return {
    name: "livelock",
    source: "ten jobs for two models with loads of 300 s",
    models: TWO,
    arrivals: arrivals.flat(),
    untilMs: 120 * MINUTE_MS,
  };
}
