// What stint promises, held against random traffic from light to two and a half times what the device can do, and against
// an adversary that asks for the other model right after each load: through the live engine, in virtual time.

import { beforeAll, describe, expect, test } from "vitest";
import { BANDS, bandOf } from "../../src/domain/band.ts";
import type { Decision } from "../../src/domain/decision.ts";
import { rankOf } from "../../src/domain/ranking.ts";
import { bindPolicy } from "../../src/scheduler/policies/registry.ts";
import { type JobRun, type ReplayRun, replay } from "../../src/simulator/replay.ts";
import { createSeeded, type Seeded } from "../../src/simulator/seeded.ts";
import {
  type Arrival,
  arrivalOf,
  merge,
  type SimulatedModel,
  simulatedModel,
  type Workload,
} from "../../src/simulator/workload.ts";

const SETTINGS = {
  weight: { interactive: 10, normal: 1, batch: 0.1 },
  visitSeconds: { interactive: 120, normal: 400, batch: 1_500 },
  swapShare: 0.2,
  burst: 4,
  price: 0.25,
  holdMax: 0.5,
};
const PRIORITIES = [100, 0, -100] as const;
const SECONDS = 1_000;

interface Case {
  readonly run: ReplayRun;
  readonly models: ReadonlyMap<string, SimulatedModel>;
}
const cases: Case[] = [];

/** Two to five models of any size, each with a mix of bands of its own, some in bursts. */
function randomTraffic(seed: number, load: number): Workload {
  const random = createSeeded(seed);
  const models = Array.from({ length: random.integer(2, 5) }, (_, i) =>
    simulatedModel(`m${i}`, {
      loadMs: random.integer(2, 90) * SECONDS,
      unloadMs: random.integer(0, 4) * SECONDS,
      concurrency: random.pick([1, 4, 16]),
      slowdownPerJob: random.pick([0, 0.06, 0.2]),
      guessedWorkMs: random.integer(1, 20) * SECONDS,
    }),
  );
  const streams = models.map((model, i) => streamOf(model, load / models.length, random.fork(`stream ${i}`)));
  return { name: `random ${seed}`, source: "made", models, arrivals: merge(...streams), untilMs: null };
}

function streamOf(model: SimulatedModel, load: number, random: Seeded): Arrival[] {
  const n = model.concurrency;
  const perJobMs = (model.guessedWorkMs * (1 + model.slowdownPerJob * (n - 1))) / n;
  const burst = random.pick([1, 1, 5, 30]);
  const bands = random.pick([[100], [0], [-100], [0, -100], [100, 0], PRIORITIES]);
  const arrivals: Arrival[] = [];
  for (let atMs = 0; arrivals.length < 90; ) {
    atMs += random.exponential((perJobMs * burst) / load);
    for (let i = 0; i < burst; i++) {
      const workMs = random.logNormal(model.guessedWorkMs, 0.8);
      arrivals.push(arrivalOf(model, Math.round(atMs) + i, random.pick(bands), workMs));
    }
  }
  return arrivals;
}

/** After each load it asks for the other model, once or with a stream that keeps the loaded one busy as well. */
function adversary(loadSeconds: number, keepBusy: boolean): Workload {
  const models = ["A", "B"].map((name) =>
    simulatedModel(name, { loadMs: loadSeconds * SECONDS, guessedWorkMs: 5_000 }),
  );
  const of = (name: string, atMs: number): Arrival => ({ atMs, model: name, priority: 0, tokens: 64 });
  let asked = 0;
  const react = () => ({
    loaded: (name: string, nowMs: number): Arrival[] => {
      if (asked++ > 25) return [];
      const other = of(name === "A" ? "B" : "A", nowMs);
      return keepBusy ? [other, ...[0, 20, 40, 60].map((after) => of(name, nowMs + after * SECONDS))] : [other];
    },
  });
  return { name: `adversary ${loadSeconds}`, source: "made", models, arrivals: [of("A", 0)], react, untilMs: null };
}

beforeAll(async () => {
  const loads = [0.2, 0.5, 0.9, 1.2, 2.5];
  const workloads = [
    ...Array.from({ length: 15 }, (_, i) => randomTraffic(100 + i, loads[i % loads.length] ?? 1)),
    ...[adversary(60, false), adversary(60, true), adversary(300, true)],
  ];
  for (const workload of workloads) {
    const scheduler = { policy: "stint", drainSeconds: 100_000, ...SETTINGS };
    const run = await replay(workload, { title: workload.name, scheduler });
    cases.push({ run, models: new Map(workload.models.map((model) => [model.name, model])) });
  }
}, 300_000);

const timesOf = (run: ReplayRun, { atMs }: Decision): number => atMs - run.startMs;
const movesOf = (run: ReplayRun): Decision[] => run.decisions.filter(({ load }) => load !== null);
const switchMs = (model: SimulatedModel | undefined): number => (model?.loadMs ?? 0) + (model?.unloadMs ?? 0);
const largestMs = ({ models }: Case): number => Math.max(...[...models.values()].map(switchMs));

describe("stint", () => {
  test("serves every job, and every load starts one before the next begins", () => {
    for (const { run } of cases) {
      expect(run.jobs.filter(({ status }) => status !== "succeeded")).toEqual([]);
      run.loads.forEach(({ model, endedAtMs }, i) => {
        const next = run.loads[i + 1];
        const untilMs = next === undefined ? Number.POSITIVE_INFINITY : next.endedAtMs - next.tookMs;
        const served = run.jobs.some(
          (job) => job.model === model && (job.startedAtMs ?? -1) >= endedAtMs && (job.startedAtMs ?? -1) <= untilMs,
        );
        expect([run.title, i, served]).toEqual([run.title, i, true]);
      });
    }
  });

  test("spends no more on cutting in than the burst and its share of any stretch of time", () => {
    let cuts = 0;
    for (const each of cases) {
      const spent = movesOf(each.run).flatMap((move) => {
        const cutsIn = ["worth", "deadline"].includes(move.reason);
        if (!cutsIn) expect(move.spend ?? null).toBeNull();
        if (move.spend == null) return [];
        const ms = move.spend.beforeMs - move.spend.afterMs;
        const there = switchMs(each.models.get(move.load ?? "")) + switchMs(each.models.get(move.evict[0] ?? ""));
        expect(ms).toBeCloseTo(there, 3);
        return [{ atMs: timesOf(each.run, move), ms }];
      });
      cuts += spent.length;
      spent.forEach((first, i) => {
        let sum = 0;
        for (const { atMs, ms } of spent.slice(i)) {
          sum += ms;
          expect(sum).toBeLessThanOrEqual(
            SETTINGS.burst * largestMs(each) + SETTINGS.swapShare * (atMs - first.atMs) + 1e-3,
          );
        }
      });
    }
    expect(cuts).toBeGreaterThan(20);
  });

  test("visits every model that waits within its bound, in overload too", () => {
    let visits = 0;
    for (const each of cases) {
      visits += each.run.decisions.filter(({ reason }) => reason === "visit").length;
      for (const { unvisitedMs, boundMs, what } of stretchesOf(each)) {
        expect([what, unvisitedMs <= boundMs, unvisitedMs, boundMs]).toEqual([what, true, unvisitedMs, boundMs]);
      }
    }
    expect(visits).toBeGreaterThan(5);
  });

  test("never idles longer with work waiting than the loads there and back, or the price, allow", () => {
    for (const { run, models } of cases) {
      for (const move of movesOf(run).filter(({ reason }) => reason === "free")) {
        const idleMs = move.resident[0]?.idleMs ?? 0;
        const target = move.models.find(({ model }) => model === move.load);
        const there = switchMs(models.get(move.load ?? ""));
        const back = switchMs(models.get(move.evict[0] ?? ""));
        const waitedMs = Math.min(
          idleMs,
          ...move.models.filter(({ depth }) => depth > 0).map((row) => row.oldestWaitMs),
        );
        const slowest = Math.min(...Object.values(SETTINGS.weight));
        const boundMs = Math.max(SETTINGS.holdMax * (there + back), (SETTINGS.price * there) / slowest);
        expect([run.title, target?.model, waitedMs <= boundMs + 1]).toEqual([run.title, move.load, true]);
      }
    }
  });

  test("inside a model no job runs before one that its rank puts ahead", () => {
    const { ranking } = bindPolicy("stint", SETTINGS);
    for (const { run } of cases) {
      const keyOf = (job: JobRun): number => rankOf(ranking, { acceptedAtMs: job.arrivedAtMs, priority: job.priority });
      for (const model of new Set(run.jobs.map((job) => job.model))) {
        const jobs = run.jobs.filter((job) => job.model === model);
        const passed = jobs.flatMap((job) =>
          jobs.filter(
            (other) =>
              other.arrivedAtMs < (job.startedAtMs ?? 0) &&
              (other.startedAtMs ?? 0) > (job.startedAtMs ?? 0) &&
              keyOf(other) < keyOf(job),
          ),
        );
        expect(passed).toEqual([]);
      }
    }
  });
});

interface Stretch {
  readonly what: string;
  readonly unvisitedMs: number;
  readonly boundMs: number;
}

/** For each load: since when the model had waited without a visit, and how long it might have. */
function stretchesOf({ run, models }: Case): Stretch[] {
  const loads = [...models.values()].map(switchMs);
  const policy = bindPolicy("stint", SETTINGS);
  const drainMs = longestDrainMs(run);
  return run.loads.flatMap(({ model, endedAtMs, tookMs }, i) => {
    const startedAtMs = endedAtMs - tookMs;
    const last = run.loads.findLastIndex((load, at) => at < i && load.model === model);
    const left = run.loads[last + 1];
    const leftAtMs = last === -1 || left === undefined ? 0 : left.endedAtMs;
    const waiting = run.jobs.filter(
      (job) => job.model === model && job.arrivedAtMs < startedAtMs && (job.startedAtMs ?? Infinity) >= startedAtMs,
    );
    const oldestAtMs = Math.min(...waiting.map((job) => job.arrivedAtMs));
    const bands = new Set(waiting.map((job) => bandOf(job.priority)));
    const band = BANDS.findLast((each) => bands.has(each)) ?? "batch";
    const unvisitedMs = startedAtMs - Math.max(oldestAtMs, leftAtMs);
    const boundMs = policy.visitBoundMs?.({ band, switchMs: loads, drainMs }) ?? 0;
    return [{ what: `${run.title}: load ${i} of ${model}`, unvisitedMs, boundMs }];
  });
}

/** From the decision to leave until nothing ran. */
function longestDrainMs(run: ReplayRun): number {
  return movesOf(run).reduce((longest, move) => {
    const atMs = timesOf(run, move);
    const load = run.loads.find((each) => each.model === move.load && each.endedAtMs >= atMs);
    return load === undefined ? longest : Math.max(longest, load.endedAtMs - load.tookMs - atMs);
  }, 0);
}
