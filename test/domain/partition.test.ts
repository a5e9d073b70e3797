import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JobState } from "../../src/domain/job.ts";
import type { LifeFacts, Stretch } from "../../src/domain/life.ts";
import { partsOf, spentOf, splitLife } from "../../src/domain/partition.ts";
import { CAUSES, type Cause, type QueueCause } from "../../src/domain/wait.ts";
import { jobIn, MODEL, OTHER_MODEL, queued, START_MS, succeeded, tryOf, waitOf } from "../explain/given.ts";

const NOTHING = { attempts: [], waits: [], downtimes: [] };
const LIFE_MS = 60;

const brief = (stretches: readonly Stretch[]): string[] =>
  stretches.map(({ cause, fromMs, toMs }) => `${cause} ${fromMs - START_MS}-${toMs - START_MS}`);

/** Instants with fractions, before, in and after the life. */
const instant = fc.integer({ min: -100, max: 10 * LIFE_MS + 100 }).map((tenths) => tenths / 10);
const span = fc.tuple(instant, instant).map(([a, b]) => [Math.min(a, b), Math.max(a, b)] as const);
const cause = fc.constantFrom<QueueCause>("paused", "model_broken", "loading", "draining", "own_queue", "held");

const lives = fc
  .record({
    final: fc.boolean(),
    waits: fc.array(fc.tuple(span, cause, fc.constantFrom("score", "pinned")), { maxLength: 6 }),
    tries: fc.array(fc.tuple(span, fc.option(instant)), { maxLength: 4 }),
    downtimes: fc.array(span, { maxLength: 2 }),
  })
  .map(({ final, waits, tries, downtimes }): LifeFacts => {
    const state: JobState = final ? succeeded(0, LIFE_MS) : queued;
    return {
      job: jobIn(state),
      nowMs: START_MS + LIFE_MS,
      attempts: tries.map(([[from, to], after], i) =>
        tryOf(i + 1, from, to, after === null ? {} : { runAfterMs: START_MS + after }),
      ),
      waits: waits.map(([[from, to], held, rule]) =>
        waitOf(held, from, to, held === "held" ? { rule: rule as "score", by: OTHER_MODEL } : {}),
      ),
      downtimes: downtimes.map(([from, to]) => ({ fromMs: START_MS + from, toMs: START_MS + to })),
    };
  });

/** The same said one ms at a time, by asking each source. */
function causeAt({ job, attempts, waits, downtimes }: LifeFacts, ms: number): Cause {
  const holds = (fromMs: number, toMs: number): boolean => Math.round(fromMs) <= ms && ms < Math.round(toMs);
  const true_ = new Set<Cause>(["dispatch"]);
  for (const gap of downtimes) if (holds(gap.fromMs, gap.toMs)) true_.add("router_down");
  for (const [i, { startedAtMs, endedAtMs, runAfterMs }] of attempts.entries()) {
    const ends = endedAtMs ?? Number.POSITIVE_INFINITY;
    const last = i === attempts.length - 1 && job.state.status === "succeeded";
    if (holds(startedAtMs, ends)) true_.add(last ? "running" : "lost_attempt");
    if (runAfterMs !== null && holds(ends, runAfterMs)) true_.add("retry_backoff");
  }
  for (const wait of waits) if (holds(wait.fromMs, wait.toMs ?? Number.POSITIVE_INFINITY)) true_.add(wait.cause);
  return CAUSES.find((each) => true_.has(each)) ?? "dispatch";
}

describe("a life cut into causes", () => {
  it("touches, never overlaps and sums exactly, and says at each ms the first cause that is true", () => {
    fc.assert(
      fc.property(lives, (facts) => {
        const { stretches, fromMs, toMs, totalMs } = splitLife(facts);

        let atMs = fromMs;
        for (const stretch of stretches) {
          expect(stretch.fromMs).toBe(atMs);
          expect(stretch.toMs).toBeGreaterThan(stretch.fromMs);
          for (let ms = stretch.fromMs; ms < stretch.toMs; ms++) expect(stretch.cause).toBe(causeAt(facts, ms));
          atMs = stretch.toMs;
        }
        expect(atMs).toBe(toMs);
        expect(totalMs).toBe(LIFE_MS);
        const parts = partsOf(stretches);
        expect(parts.reduce((sum, { ms }) => sum + ms, 0)).toBe(totalMs);
        expect(parts.reduce((sum, part) => sum + part.stretches, 0)).toBe(stretches.length);
        const spent = spentOf({ stretches, totalMs });
        expect(spent.waitMs + spent.runMs).toBe(totalMs);
        expect(spent.parts.reduce((sum, { ms }) => sum + ms, 0)).toBe(totalMs);
      }),
      { numRuns: 1_000 },
    );
  });

  it("has each back-off to its end, not only the last", () => {
    const attempts = [
      tryOf(1, 10, 20, { runAfterMs: START_MS + 35, outcome: "busy", detail: "429" }),
      tryOf(2, 40, 50, { runAfterMs: START_MS + 52 }),
      tryOf(3, 52, 60, { outcome: "succeeded" }),
    ];
    const waits = [waitOf("own_queue", 0, 10), waitOf("own_queue", 30, 40)];

    const { stretches } = splitLife({ ...NOTHING, job: jobIn(succeeded(52, 60)), nowMs: START_MS, attempts, waits });

    expect(brief(stretches)).toEqual([
      "own_queue 0-10",
      "lost_attempt 10-20",
      "retry_backoff 20-35",
      "own_queue 35-40",
      "lost_attempt 40-50",
      "retry_backoff 50-52",
      "running 52-60",
    ]);
    expect(stretches[2]?.detail).toEqual({ attempt: 1, outcome: "busy: 429" });
  });

  it("what a router says while it starts is said of the queue, not of what runs", () => {
    const waits = [waitOf("router_down", 0, 30)];

    const { stretches } = splitLife({
      ...{ ...NOTHING, job: jobIn(succeeded(10, 20)), nowMs: START_MS, waits },
      attempts: [tryOf(1, 10, 20, { outcome: "succeeded" })],
    });

    expect(brief(stretches)).toEqual(["router_down 0-10", "running 10-20"]);
  });

  it("is all dispatch where nothing is known, and says how much that was", () => {
    const split = splitLife({ ...NOTHING, job: jobIn(queued), nowMs: START_MS + 1_000.4 });

    expect(brief(split.stretches)).toEqual(["dispatch 0-1000"]);
    expect(split.unexplainedMs).toBe(1_000);
  });

  it("has no stretch where it lasted no time", () => {
    const split = splitLife({ ...NOTHING, job: jobIn(queued), nowMs: START_MS - 5 });

    expect(split).toMatchObject({ stretches: [], totalMs: 0 });
    expect(spentOf(split)).toEqual({ waitMs: 0, runMs: 0, topCause: null, parts: [] });
  });

  it("ignores other models' queues, and takes the tier from the load of the same decision", () => {
    const decision = "dec_1" as never;
    const loads = [{ decision, device: "gpu0", tier: "warm" }] as never;
    const waits = [
      waitOf("paused", 0, 60, { model: OTHER_MODEL }),
      waitOf("loading", 0, 60, { decision, device: "gpu0" as never }),
    ];

    const { stretches } = splitLife({ ...NOTHING, job: jobIn(queued), nowMs: START_MS + 60, waits, loads });

    expect(brief(stretches)).toEqual(["loading 0-60"]);
    expect(stretches[0]?.detail).toEqual({ tier: "warm" });
    expect(MODEL).not.toBe(OTHER_MODEL);
  });

  it("is cut in time that grows with its stretches, not with their square", () => {
    const waits = Array.from({ length: 50_000 }, (_, i) =>
      waitOf(i % 2 === 0 ? "held" : "loading", i, i + 1, i % 2 === 0 ? { rule: "score", by: OTHER_MODEL } : {}),
    );

    const { stretches } = splitLife({ ...NOTHING, job: jobIn(queued), nowMs: START_MS + 50_000, waits });

    expect(stretches.length).toBe(50_000);
  }, 10_000);
});
