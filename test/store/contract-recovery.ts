// What the next router finds after the one before was killed.

import { describe, expect, test } from "vitest";
import type { Bench } from "./contract.ts";
import { added, answer, authority, claimed, ENDED, fenceOf, finished, jobOf, keyed, newJob } from "./given.ts";

const CAP = 3;

export function exerciseRecovery({ open, reopen }: Bench): void {
  describe("recovery", () => {
    test("what a dead router was running is queued again, uncharged, its rank kept", async () => {
      const before = await open();
      const job = await added(before.store, newJob({ priority: 5 }));
      const running = await claimed(before.store, before.owner, job.id);
      const waiting = await added(before.store);
      const after = await reopen(before);

      const dead = await after.store.deadOwners();
      const recovery = await after.store.recover(authority(after.owner), dead, CAP);

      expect(dead).toEqual([before.owner]);
      expect(recovery).toEqual({ requeued: 1, poisoned: 0, dropped: 0 });
      expect(await after.store.job(job.id)).toEqual({ ...job, epoch: 2, interruptions: 1, dispatch: running.dispatch });
      expect(await after.store.attempts(job.id)).toMatchObject([{ outcome: "interrupted" }]);
      expect(await after.store.job(waiting.id)).toEqual(waiting);
      expect(await after.store.deadOwners()).toEqual([]);
    });

    test("an outcome of the dead router's attempt changes nothing", async () => {
      const before = await open();
      const running = await claimed(before.store, before.owner, (await added(before.store)).id);
      const after = await reopen(before);
      await after.store.recover(authority(after.owner), await after.store.deadOwners(), CAP);
      await claimed(after.store, after.owner, running.id);

      const late = await after.store.finish(fenceOf(running), { kind: "succeeded", result: answer() }, ENDED);

      expect(late).toBeNull();
    });

    test("a job that takes its router down each time is poison at the cap", async () => {
      let given = await open();
      const job = await added(given.store);
      const recoveries: unknown[] = [];
      for (let i = 0; i < CAP; i++) {
        await claimed(given.store, given.owner, job.id);
        given = await reopen(given);
        const dead = await given.store.deadOwners();
        recoveries.push(await given.store.recover(authority(given.owner), dead, CAP));
      }

      const end = await given.store.job(job.id);

      expect(recoveries.at(-1)).toEqual({ requeued: 0, poisoned: 1, dropped: 0 });
      expect(end).toMatchObject({ interruptions: CAP, attempts: 0 });
      expect(end?.state).toMatchObject({ status: "failed", error: { code: "poison" } });
    });

    test("synchronous requests die with their router, queued or running", async () => {
      const before = await open();
      const queued = before.store.addVolatile(newJob());
      const running = before.store.addVolatile(newJob());
      await claimed(before.store, before.owner, running.job.id);
      await queued.recorded;
      const after = await reopen(before);

      const recovery = await after.store.recover(authority(after.owner), await after.store.deadOwners(), CAP);

      expect(recovery).toEqual({ requeued: 0, poisoned: 0, dropped: 2 });
      for (const { job } of [queued, running]) {
        expect((await after.store.job(job.id))?.state).toMatchObject({ status: "cancelled", reason: "disconnect" });
      }
    });

    test("recovery never touches what this router runs", async () => {
      const { store, owner } = await open();
      const running = await claimed(store, owner, (await added(store)).id);

      const recovery = await store.recover(authority(owner), [owner], CAP);

      expect(await store.deadOwners()).toEqual([]);
      expect(recovery).toEqual({ requeued: 0, poisoned: 0, dropped: 0 });
      expect(await store.job(running.id)).toEqual(running);
    });

    test("answers and keys outlive their router", async () => {
      const before = await open();
      const done = await finished(before.store, before.owner, "kept", keyed("k"));
      const after = await reopen(before);

      const again = await after.store.add(keyed("k"));

      expect(jobOf(again)).toEqual(done);
      expect(Buffer.from((await after.store.result(done.id))?.body ?? []).toString()).toBe("kept");
    });

    test("the next router learns the highest time stored, and the gap is a downtime", async () => {
      const before = await open();
      await before.clock.runUntil(before.clock.nowMs() + 5_000);
      const lastMs = before.clock.nowMs();
      await added(before.store);
      const after = await reopen(before, { clock: before.clock });
      await after.clock.runUntil(lastMs + 60_000);
      const third = await reopen(after, { clock: after.clock });

      const downtimes = await third.store.downtimes(0, lastMs + 100_000);

      expect(after.store.lastStampMs).toBe(lastMs);
      expect(after.store.cleanShutdown).toBe(false);
      expect(downtimes).toEqual([{ fromMs: lastMs, toMs: lastMs + 60_000 }]);
    });

    test("a clean stop is remembered", async () => {
      const before = await open();
      await before.store.close();
      const after = await reopen(before);

      expect(before.store.cleanShutdown).toBe(true);
      expect(after.store.cleanShutdown).toBe(true);
    });

    test("ranks follow a change of what a point of priority is worth", async () => {
      const { store, clock } = await open({ ranking: { kind: "aging", msPerPoint: 60_000 } });
      const job = await added(store, newJob({ priority: 2 }));

      await store.rerank({ kind: "aging", msPerPoint: 1_000 });

      expect((await store.job(job.id))?.rank).toBe(clock.nowMs() - 2_000);
      expect((await added(store, newJob({ priority: 2 }))).rank).toBe(clock.nowMs() - 2_000);
    });
  });
}
