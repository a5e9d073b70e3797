// A made day that is recorded as a router would record it, for tests that run it again: three services on one device.

import { setupOf } from "../../src/config/setup.ts";
import { bursts, poisson } from "../../src/simulator/arrivals.ts";
import type { SimulationSettings } from "../../src/simulator/assembly.ts";
import { type ReplayRun, replay } from "../../src/simulator/replay.ts";
import { createSeeded } from "../../src/simulator/seeded.ts";
import { readTraffic, type Traffic } from "../../src/simulator/traffic.ts";
import { merge, simulatedModel, type Workload } from "../../src/simulator/workload.ts";
import type { History } from "../../src/store/history.ts";
import type { Store } from "../../src/store/store.ts";

export const HOUR_MS = 3_600_000;

export const SERVED: SimulationSettings = {
  title: "as it ran",
  scheduler: { policy: "model-score", maxWaitSeconds: 600, minResidencySeconds: 30 },
};

/** Chat by people, code in bursts, summaries by a machine; slower together, and of any length. */
export function madeDay(hours: number, seed = 1, slowdownPerJob = 0.06): Workload {
  const seeded = createSeeded(seed);
  const timing = { slowdownPerJob, firstTokenMs: 200, unloadMs: 1_500 };
  const chat = simulatedModel("chat", { ...timing, priority: 1.5, loadMs: 20_000, tokensPerSecond: 45 });
  const code = simulatedModel("code", { ...timing, loadMs: 45_000, tokensPerSecond: 30, concurrency: 4 });
  const batch = simulatedModel("sum", { ...timing, priority: 0.5, loadMs: 30_000, tokensPerSecond: 50 });
  const until = hours * HOUR_MS;
  const code1 = bursts([{ model: "code", tokens: 300 }], {
    count: Math.ceil(hours),
    size: 10,
    gapMs: 2_000,
    everyMs: HOUR_MS,
  });
  const lengths = seeded.fork("tokens");
  const arrivals = merge(
    poisson(seeded.fork("chat"), { model: "chat", priority: 100 }, 60, 0, until),
    code1,
    poisson(seeded.fork("code"), { model: "code" }, 8, 0, until),
    poisson(seeded.fork("sum"), { model: "sum", priority: -100 }, 30, 0, until),
  ).map((arrival) => ({ ...arrival, tokens: Math.ceil(lengths.logNormal(300, 0.8)) }));
  return { name: "made day", source: "seeded", models: [chat, code, batch], arrivals, untilMs: null };
}

/** Runs the day, and hands over what its store kept before that is closed. */
export async function record<Value>(
  workload: Workload,
  settings: SimulationSettings,
  read: (history: History, run: ReplayRun, store: Store) => Promise<Value>,
): Promise<Value> {
  let value: Value | undefined;
  const look: NonNullable<Parameters<typeof replay>[2]>["look"] = async ({ store, config }, run) => {
    store.append([{ type: "setup", atMs: run.startMs, setup: setupOf(config) }]);
    await store.ping();
    value = await read(store.history, run, store);
  };
  await replay(workload, settings, { look });
  return value as Value;
}

export function recordTraffic(workload: Workload, fromHour: number, toHour: number): Promise<Traffic> {
  return record(workload, SERVED, (history, { startMs }) =>
    readTraffic(history, { fromMs: startMs + fromHour * HOUR_MS, toMs: startMs + toHour * HOUR_MS }),
  );
}
