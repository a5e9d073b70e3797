// One model's queue against a plain list: whatever comes, goes, hangs up and comes back, both say the same.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { BANDS, bandOf } from "../../src/domain/band.ts";
import type { JobId, ModelName } from "../../src/domain/ids.ts";
import { ModelQueue } from "../../src/engine/backlog.ts";
import type { LiveJob } from "../../src/engine/live-job.ts";

const MS_PER_POINT = 60_000;

function liveJob(n: number, priority: number, acceptedAtMs: number, deadlineAtMs: number | null = null): LiveJob {
  return {
    id: `job_${String(n).padStart(4, "0")}` as JobId,
    model: "m" as ModelName,
    band: bandOf(priority),
    priority,
    rank: acceptedAtMs - priority * MS_PER_POINT,
    acceptedAtMs,
    deadlineAtMs,
    durable: true,
    stream: false,
    runAfterMs: 0,
    phase: "queued",
    demand: true,
    loadFailuresBefore: 0,
    row: null,
    body: null,
    abort: null,
    ending: null,
    runningSinceMs: null,
    firstByteAtMs: null,
    wentFirst: 0,
    wentFirstHigher: 0,
  };
}

const byRank = (a: LiveJob, b: LiveJob): number => a.rank - b.rank || (a.id < b.id ? -1 : 1);
const byArrival = (a: LiveJob, b: LiveJob): number => a.acceptedAtMs - b.acceptedAtMs || (a.id < b.id ? -1 : 1);

function expectSame(queue: ModelQueue, queued: ReadonlySet<LiveJob>): void {
  const inOrder = [...queued].sort(byRank);
  const demand = inOrder.filter((job) => job.demand);
  expect(queue.size).toBe(inOrder.length);
  expect(queue.depth).toBe(demand.length);
  expect(queue.next()).toBe(inOrder[0]);
  expect(queue.head()?.id).toBe(demand[0]?.id);
  expect(queue.oldest()?.id).toBe([...demand].sort(byArrival)[0]?.id);
  expect(inOrder.map((job) => queue.position(job))).toEqual(inOrder.map((_, n) => n));
  expect(new Set(queue.jobs())).toEqual(queued);
  const due = demand.map(({ deadlineAtMs }) => deadlineAtMs).filter((each) => each !== null);
  expect(queue.deadline()?.atMs ?? null).toBe(due.length === 0 ? null : Math.min(...due));
  for (const band of BANDS) {
    const inBand = demand.filter((job) => job.band === band);
    expect(queue.band(band).depth).toBe(inBand.length);
    expect(queue.band(band).acceptedAtMsSum).toBe(inBand.reduce((sum, { acceptedAtMs }) => sum + acceptedAtMs, 0));
    expect(queue.waitedMs(band, 2e7)).toBe(inBand.reduce((sum, { acceptedAtMs }) => sum + 2e7 - acceptedAtMs, 0));
  }
}

describe("a model's queue", () => {
  it("agrees with a plain list, whatever comes, goes, hangs up and comes back", () => {
    const step = fc.record({
      act: fc.constantFrom("add", "remove", "orphan", "return"),
      job: fc.integer({ min: 0, max: 39 }),
    });
    const kind = fc.record({
      priority: fc.constantFrom(-110, -100, 0, 0, 5, 100),
      acceptedAtMs: fc.integer({ min: 0, max: 10 ** 7 }),
      deadlineAtMs: fc.constantFrom(null, null, 5, 7, 10 ** 7),
    });

    fc.assert(
      fc.property(
        fc.array(kind, { minLength: 40, maxLength: 40, size: "max" }),
        fc.array(step, { maxLength: 120, size: "max" }),
        (kinds, steps) => {
          const jobs = kinds.map(({ priority, acceptedAtMs, deadlineAtMs }, n) =>
            liveJob(n, priority, acceptedAtMs, deadlineAtMs),
          );
          const queue = new ModelQueue();
          const queued = new Set<LiveJob>();
          for (const { act, job: n } of steps) {
            const job = jobs[n];
            if (job === undefined) continue;
            if (act === "orphan" || act === "return") queue.setDemand(job, act === "return");
            else if (act === "remove") expect(queue.remove(job)).toBe(queued.delete(job));
            else if (!queued.has(job)) {
              queue.add(job);
              queued.add(job);
            }
          }
          expectSame(queue, queued);
          const [first] = jobs;
          if (first !== undefined && !queued.has(first)) expect(queue.position(first)).toBeNull();
        },
      ),
      { numRuns: 200 },
    );
  });

  it("finds its demand behind ten thousand callers who hung up", () => {
    const queue = new ModelQueue();
    const jobs = Array.from({ length: 10_001 }, (_, n) => liveJob(n, 0, n));
    for (const job of jobs) queue.add(job);

    for (const job of jobs.slice(0, -1)) queue.setDemand(job, false);

    expect(queue.head()?.id).toBe(jobs.at(-1)?.id);
    expect(queue.next()).toBe(jobs[0]);
    expect(queue.depth).toBe(1);
  });
});
