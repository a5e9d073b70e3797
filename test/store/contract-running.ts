// Claims and their fences.

import { describe, expect, test } from "vitest";
import type { PoolId } from "../../src/domain/ids.ts";
import type { Bench } from "./contract.ts";
import {
  added,
  answer,
  authority,
  claimed,
  DISPATCH,
  ENDED,
  fenceOf,
  finished,
  INSTANCE,
  INTERRUPTED,
  newJob,
  nextOwner,
} from "./given.ts";

export function exerciseRunning({ open }: Bench): void {
  describe("running", () => {
    test("a claim raises epoch and attempts and keeps why it was dispatched", async () => {
      const { store, owner, clock } = await open();
      const job = await added(store);

      const running = await claimed(store, owner, job.id);

      expect(running).toMatchObject({ epoch: 1, attempts: 1, dispatch: DISPATCH });
      expect(running.state).toEqual({ status: "running", owner, instance: INSTANCE, startedAtMs: clock.nowMs() });
      expect(await store.job(job.id)).toEqual(running);
      expect(await store.attempts(job.id)).toMatchObject([{ epoch: 1, attempt: 1, owner, outcome: null }]);
    });

    test("a job is claimed once, however many ask", async () => {
      const { store, owner } = await open();
      const job = await added(store);
      const pick = { id: job.id, instance: INSTANCE, dispatch: DISPATCH };

      const claims = await Promise.all(Array.from({ length: 8 }, () => store.claim(authority(owner), [pick, pick])));

      expect(claims.flat().filter((each) => each !== null)).toHaveLength(1);
      expect(await store.job(job.id)).toMatchObject({ epoch: 1, attempts: 1 });
    });

    test("a claim takes nothing from another pool", async () => {
      const { store, owner } = await open();
      const job = await added(store, newJob({ pool: "elsewhere" as PoolId }));

      const claims = await store.claim(authority(owner), [{ id: job.id, instance: INSTANCE, dispatch: DISPATCH }]);

      expect(claims).toEqual([null]);
    });

    test("the answer is kept byte for byte with the job's end", async () => {
      const { store, owner, clock } = await open();
      const bytes = Uint8Array.from({ length: 70_000 }, (_, i) => i * 31);
      const running = await claimed(store, owner, (await added(store)).id);
      const result = { status: 201, headers: { "content-type": "audio/wav" }, body: bytes };

      const done = await store.finish(fenceOf(running), { kind: "succeeded", result }, ENDED);

      expect(done).toMatchObject({ epoch: 1, purgeAfterMs: clock.nowMs() + 86_400_000 });
      expect(done?.state).toMatchObject({ status: "succeeded", finishedAtMs: clock.nowMs() });
      const stored = await store.result(running.id);
      expect(stored).toMatchObject({ status: 201, headers: { "content-type": "audio/wav" } });
      expect(stored && Buffer.compare(stored.body, bytes)).toBe(0);
      expect(bytes.byteLength).toBe(70_000);
      expect(await store.attempts(running.id)).toMatchObject([{ outcome: "succeeded", endedAtMs: clock.nowMs() }]);
    });

    test("values of many megabytes come back whole", async () => {
      const { store, owner } = await open();
      const text = "0123456789abcdef".repeat(200_000);

      const done = await finished(store, owner, text, newJob({ text }));

      const body = await store.body(done.id);
      expect(body?.source.kind === "bytes" && Buffer.from(body.source.bytes).toString() === text).toBe(true);
      const result = await store.result(done.id);
      expect(result !== null && Buffer.from(result.body).toString() === text).toBe(true);
    });

    test("an engine's refusal is kept with the failure", async () => {
      const { store, owner } = await open();
      const running = await claimed(store, owner, (await added(store)).id);
      const error = { code: "engine_refused", message: "the engine refused it" } as const;

      const done = await store.finish(
        fenceOf(running),
        { kind: "failed", error, result: answer('{"error":1}', 422) },
        { ...ENDED, outcome: "refused" },
      );

      expect(done?.state).toMatchObject({ status: "failed", error });
      expect(await store.result(running.id)).toMatchObject({ status: 422 });
    });

    test("an outcome of an earlier attempt changes nothing", async () => {
      const { store, owner } = await open();
      const first = await claimed(store, owner, (await added(store)).id);
      await store.requeue(fenceOf(first), { charge: "attempt", delayMs: 0 }, INTERRUPTED);
      const second = await claimed(store, owner, first.id);

      const late = await store.finish(fenceOf(first), { kind: "succeeded", result: answer("stale") }, ENDED);
      const lateBack = await store.requeue(fenceOf(first), { charge: "none", delayMs: 0 }, INTERRUPTED);

      expect([late, lateBack]).toEqual([null, null]);
      expect(await store.job(first.id)).toEqual(second);
      expect(await store.result(first.id)).toBeNull();
    });

    test("a fence with another owner matches nothing", async () => {
      const { store, owner } = await open();
      const running = await claimed(store, owner, (await added(store)).id);

      const end = await store.finish(
        { ...fenceOf(running), owner: nextOwner() },
        { kind: "succeeded", result: answer() },
        ENDED,
      );

      expect(end).toBeNull();
      expect(await store.job(running.id)).toEqual(running);
    });

    test.each([
      ["attempt", 1, 0],
      ["interruption", 0, 1],
      ["none", 0, 0],
    ] as const)("charging %s leaves %i attempts and %i interruptions", async (charge, attempts, interruptions) => {
      const { store, owner, clock } = await open();
      const job = await added(store);
      const running = await claimed(store, owner, job.id);

      const back = await store.requeue(fenceOf(running), { charge, delayMs: 2_000 }, INTERRUPTED);

      expect(back).toMatchObject({ attempts, interruptions, epoch: 2, rank: job.rank, state: { status: "queued" } });
      expect(back?.runAfterMs).toBe(clock.nowMs() + 2_000);
      expect(await store.job(job.id)).toEqual(back);
    });

    test("a finished synchronous request keeps its end, and no bytes", async () => {
      const { store, owner } = await open();
      const { job } = store.addVolatile(newJob());
      const running = await claimed(store, owner, job.id);

      const done = await store.finish(fenceOf(running), { kind: "succeeded", result: answer() }, ENDED);

      expect(done?.state.status).toBe("succeeded");
      expect(await store.result(job.id)).toBeNull();
      expect((await store.usage()).storedBytes).toBe(0);
    });
  });
}
