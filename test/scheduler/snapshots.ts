// Random snapshots and policies for property tests, dense in coincidences: few instants, few priorities, many ties.

import fc from "fast-check";
import type { Forecast, PreloadBudget } from "../../src/scheduler/forecast.ts";
import { bindPolicy, POLICY_NAMES } from "../../src/scheduler/policies/registry.ts";
import type { BoundPolicy } from "../../src/scheduler/policy.ts";
import type { ModelView, Snapshot, Transition } from "../../src/scheduler/snapshot.ts";
import { model, named, type QueuedJob, resident, snapshot } from "./views.ts";

export const NOW = 300_000;
const NAMES = ["A", "B", "C", "D"];

const instant = fc.oneof(
  fc.integer({ min: 0, max: NOW }),
  fc.constantFrom(0, NOW - 120_000, NOW - 30_000, NOW - 8_000, NOW - 1, NOW),
  fc.double({ min: 0, max: NOW, noNaN: true }),
);
/** Mostly below the ceilings, so that scores are heard. */
const arrival = fc.oneof(
  { weight: 3, arbitrary: fc.integer({ min: NOW - 50_000, max: NOW }) },
  { weight: 1, arbitrary: instant },
);
const job: fc.Arbitrary<QueuedJob> = fc.record({
  id: fc.integer({ min: 1, max: 1_000_000 }),
  atMs: arrival,
  priority: fc.constantFrom(0, 0, 0, 100, -100, 1, 49, 50),
});
const often = <T>(value: T, other: fc.Arbitrary<T>): fc.Arbitrary<T> =>
  fc.oneof({ weight: 9, arbitrary: fc.constant(value) }, { weight: 1, arbitrary: other });

const forecast: fc.Arbitrary<Forecast> = fc.record({
  burst: fc.constantFrom(0, 0.1, 1, 10),
  expected: fc.array(
    fc.record({
      source: fc.constantFrom("hint", "cron", "daily"),
      dueAtMs: fc.constantFrom(NOW - 10_000, NOW, NOW + 10_000),
      fromMs: fc.constantFrom(NOW - 20_000, NOW, NOW + 5_000),
      untilMs: fc.constantFrom(NOW - 1, NOW + 1, NOW + 60_000),
      probability: fc.constantFrom(0.5, 0.9),
      actsFromMs: fc.constantFrom(0, NOW + 3_000, Number.POSITIVE_INFINITY),
      hint: fc.constant(null),
    }),
    { maxLength: 2 },
  ),
});
const preloadBudget: fc.Arbitrary<PreloadBudget> = fc.record({
  leftMs: fc.constantFrom(0, 7_999, 600_000),
  atMs: fc.constantFrom(NOW - 1_000, NOW),
  share: fc.constantFrom(0, 0.05),
  mostMs: fc.constantFrom(1_000, 1_200_000),
  price: fc.constantFrom(0, 0.25),
});

interface Draft {
  readonly rest: Partial<ModelView>;
  readonly jobs: readonly QueuedJob[];
  /** Of each band: arrivals so far, and what its jobs had waited at the last load. */
  readonly past: { readonly arrivals: number; readonly waitedMs: number };
  /** Of its first job. */
  readonly dueAtMs: number | null;
}

const draft: fc.Arbitrary<Draft> = fc.record({
  jobs: fc.uniqueArray(job, { maxLength: 4, selector: ({ id }) => id }),
  rest: fc.record({
    priority: fc.constantFrom(1, 1, 0.5, 2, 20),
    loadMs: fc.constantFrom(0, 1_000, 6_000, 8_000, 100_000),
    memoryGiB: often<number | null>(null, fc.constantFrom(10, 90)),
    retryAtMs: often(0, fc.constantFrom(NOW - 5, NOW, NOW + 1, NOW + 9_000)),
    broken: often(false, fc.boolean()),
    paused: often(false, fc.boolean()),
    pinned: often(false, fc.boolean()),
    unloadAfterMs: often<number | null>(null, fc.constantFrom(0, 10_000, 400_000)),
    forecast: often<Forecast | null>(null, forecast),
    wanted: often<ModelView["wanted"]>(null, fc.constantFrom("operator", "keep_ready", "pinned", "restore")),
    slots: fc.constantFrom(1, 2, 8),
    unloadMs: fc.constantFrom(0, 500, 10_000),
    service: fc.record({
      aloneMs: fc.constantFrom(null, 200, 2_000, 90_000),
      slowdownPerJob: fc.constantFrom(0, 0.06, 1),
    }),
    lastArrivalAtMs: fc.constantFrom(null, NOW - 40_000, NOW - 500, NOW),
    unvisitedSinceMs: fc.constantFrom(null, NOW - 200_000, NOW - 60_000, NOW - 59_999.5, NOW),
  }),
  past: fc.record({ arrivals: fc.constantFrom(0, 1, 30), waitedMs: fc.constantFrom(0, 40_000) }),
  dueAtMs: often<number | null>(null, fc.constantFrom(NOW - 1, NOW + 9_000, NOW + 70_000, NOW + 400_000)),
});

function viewOf({ jobs, rest, past, dueAtMs }: Draft, name: string, facts: Parameters<typeof model>[1]): ModelView {
  const view = model(name, { jobs, ...rest, ...facts });
  const bands = Object.fromEntries(
    Object.entries(view.bands).map(([band, each]) => {
      const arrivals = { value: past.arrivals, atMs: NOW - 30_000 };
      return [band, { ...each, arrivals, waitedMsAtLoad: each.depth === 0 ? 0 : past.waitedMs }];
    }),
  ) as unknown as ModelView["bands"];
  const deadline = dueAtMs === null || view.oldest === null ? null : { id: view.oldest.id, atMs: dueAtMs };
  return { ...view, bands, deadline };
}

export const anyPolicy: fc.Arbitrary<BoundPolicy> = fc
  .record({
    name: fc.constantFrom(...POLICY_NAMES),
    raw: fc.record(
      {
        minResidencySeconds: fc.constantFrom(null, 0, 30, 200, 300),
        maxWaitSeconds: fc.constantFrom(null, 60, 120),
        switchCostWeight: fc.constantFrom(0, 1, 3),
        serveBeforeSwap: fc.constantFrom("residency", "once", false),
        ageWeight: fc.constantFrom(0, 1, 0.1),
        depthWeight: fc.constantFrom(0, 0.5),
        idleLapse: fc.boolean(),
        agingDivisorSeconds: fc.constantFrom(0, 1, 60),
        swapAffinityBonus: fc.constantFrom(0, 10, 99),
        batch: fc.boolean(),
        strict: fc.boolean(),
        price: fc.constantFrom(0, 0.25, 5),
        hold: fc.constantFrom(0, 1),
        holdMax: fc.constantFrom(0, 0.5, 20),
        carry: fc.constantFrom(0, 0.2, 1),
        swapShare: fc.constantFrom(0.2, 0.9),
        visitSeconds: fc.constantFrom({}, { interactive: 1, normal: 60, batch: 200 }),
        doublesSeconds: fc.constantFrom({}, { interactive: 1, normal: 2, batch: 3 }),
        rescue: fc.boolean(),
      },
      { requiredKeys: [] },
    ),
  })
  .map(({ name, raw }) => bindPolicy(name, raw));

/** A snapshot of up to four models as `policy` would rank their jobs, with or without a resident. */
export function snapshotFor(policy: BoundPolicy, withTransition = false): fc.Arbitrary<Snapshot> {
  return fc
    .record({
      drafts: fc.array(draft, { minLength: 1, maxLength: 4 }),
      at: fc.constantFrom(null, 0, 0, 0, 0, 1, 2),
      sinceMs: instant,
      idleSinceMs: fc.oneof(instant, fc.integer({ min: NOW - 20_000, max: NOW })),
      rests: fc.boolean(),
      inFlight: fc.constantFrom(0, 0, 1, 8),
      dispatched: fc.constantFrom(0, 1, 5),
      forced: fc.boolean(),
      paused: often(false, fc.boolean()),
      blockedUntilMs: often(0, fc.constantFrom(NOW, NOW + 700)),
      memoryGiB: fc.constantFrom(null, 40),
      preloading: fc.oneof(fc.constant(null), preloadBudget),
      budget: fc.oneof(
        fc.constant(null),
        fc.record({ leftMs: fc.constantFrom(0, 9_000, 300_000), atMs: fc.constantFrom(NOW - 7_001, NOW) }),
      ),
      busyShare: fc.record({ share: fc.constantFrom(0, 0.5, 1), atMs: fc.constant(NOW - 9_000), busy: fc.boolean() }),
      eventAtMs: fc.constantFrom(NOW, NOW, NOW - 5_000),
      move: withTransition ? often<Transition | null>(null, transition) : fc.constant(null),
    })
    .map(({ drafts, at, sinceMs, idleSinceMs, rests, inFlight, dispatched, forced, move, ...device }) => {
      const models = drafts.map((each, order) => {
        const own = at !== order ? {} : rests ? { jobs: [] } : { inFlight };
        return viewOf(each, NAMES[order] ?? "A", { ...own, order, ranking: policy.ranking });
      });
      const here = at === null ? undefined : models[at];
      const idle = here !== undefined && here.depth === 0 && here.inFlight === 0;
      const residents =
        here === undefined
          ? []
          : [resident(here.model, { sinceMs, dispatched, forced, idleSinceMs: idle ? idleSinceMs : null })];
      return snapshot(NOW, models, { ...device, residents, transition: move });
    });
}

const transition: fc.Arbitrary<Transition> = fc.record({
  phase: fc.constantFrom("draining", "unloading", "loading"),
  load: fc.constantFrom(null, named("A"), named("B")),
  evict: fc.constantFrom([], [named("C")]),
  sinceMs: instant,
  onDemand: fc.boolean(),
  ahead: fc.boolean(),
});

export const policyAndSnapshot: fc.Arbitrary<readonly [BoundPolicy, Snapshot]> = anyPolicy.chain((policy) =>
  snapshotFor(policy).map((each) => [policy, each] as const),
);

export const policyAndAnySnapshot: fc.Arbitrary<readonly [BoundPolicy, Snapshot]> = anyPolicy.chain((policy) =>
  snapshotFor(policy, true).map((each) => [policy, each] as const),
);
