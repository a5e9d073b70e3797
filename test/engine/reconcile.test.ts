import { expect, it } from "vitest";
import { openRig } from "./rig.ts";

it("a job whose commit was not acknowledged is found in the store and served once", async () => {
  const rig = await openRig({ models: { a: { loadSeconds: 1 } } });
  const known = await rig.submit("a", { leaseMs: null });
  const lost = await rig.store.add(rig.newJob("a", { leaseMs: null }));
  await rig.advance(30);
  if (lost.kind !== "added") throw new Error(lost.kind);
  const before = (await rig.job(lost.job.id)).state.status;

  rig.engine.reconcile();
  await rig.advance(30);

  expect(before).toBe("queued");
  expect(await rig.statuses([known, lost.job.id])).toEqual(["succeeded", "succeeded"]);
  expect(rig.of("job.dispatched").map(({ job }) => job)).toEqual([known, lost.job.id]);
  expect(rig.faults).toEqual([]);
});
