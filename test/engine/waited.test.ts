// What queues waited for, summed over their jobs: it is what the jobs themselves waited, whatever happens between looks.

import { expect, it } from "vitest";
import { openRig } from "./rig.ts";

it("sums to what the jobs waited, cause by cause", async () => {
  const models = { a: { concurrency: 2, loadSeconds: 10 }, b: { concurrency: 1, loadSeconds: 20 } };
  const rig = await openRig({ models, scheduler: { policy: "fifo" } });
  const long = { tokens: 64 * 8, leaseMs: null };
  const groups = [
    rig.schedule("a", [0, 1, 2, 3, 40, 41.5], long),
    rig.schedule("b", [5, 5.25, 6, 30, 31], long),
    rig.schedule("a", [7, 90], long),
  ];
  await rig.advance(2);
  rig.engine.status();
  await rig.advance(33);
  // Somebody leaves the queue without running.
  const left = await rig.submit("a", long);
  await rig.advance(0.5);
  await rig.engine.cancel(left, "client");
  await rig.engine.operator.pause();
  await rig.advance(20);
  rig.engine.status();
  await rig.engine.operator.resume();
  await rig.advance(400);

  const jobs = await Promise.all([...groups.flat(), left].map((id) => rig.job(id)));
  const waited = jobs.reduce((sum, { dispatch, acceptedAtMs, state }) => {
    const endedMs = "finishedAtMs" in state ? state.finishedAtMs - acceptedAtMs : Number.NaN;
    return sum + (dispatch?.queueWaitMs ?? endedMs);
  }, 0);
  const byCause = new Map<string, number>();
  for (const { waitedMs } of rig.engine.status().models) {
    for (const [cause, jobMs] of waitedMs) byCause.set(cause, (byCause.get(cause) ?? 0) + jobMs);
  }
  const sum = [...byCause.values()].reduce((all, each) => all + each, 0);

  expect(rig.faults).toEqual([]);
  expect(new Set(jobs.map(({ state }) => state.status))).toEqual(new Set(["succeeded", "cancelled"]));
  expect(Math.abs(sum - waited)).toBeLessThan(1);
  expect([...byCause.keys()]).toEqual(expect.arrayContaining(["loading", "own_queue", "held", "paused"]));
  expect(byCause.get("paused")).toBeGreaterThan(20_000);
});
