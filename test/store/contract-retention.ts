// What is kept, how long, and what goes first when room is short.

import { describe, expect, test } from "vitest";
import type { VirtualClock } from "../../src/simulator/virtual-clock.ts";
import type { SqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import type { Bench } from "./contract.ts";
import { added, claimed, fenceOf, finished, INTERRUPTED, keyed, newJob } from "./given.ts";

const HOUR_MS = 3_600_000;

/** Lets lazy notes out and waits for their commit. */
async function noted(store: SqliteStore, clock: VirtualClock): Promise<void> {
  await clock.runUntil(clock.nowMs() + 1_000);
  await store.ping();
}

export function exerciseRetention({ open }: Bench): void {
  describe("retention", () => {
    test("an unread answer stays until its time is over, then its tombstone says so", async () => {
      const { store, owner, clock } = await open({ resultTtlMs: 24 * HOUR_MS });
      const done = await finished(store, owner);
      await clock.runUntil(clock.nowMs() + 24 * HOUR_MS - 1);
      await store.prune();
      const kept = await store.result(done.id);
      await clock.runUntil(clock.nowMs() + 1);

      const more = await store.prune();

      expect(kept).not.toBeNull();
      expect(more).toBe(false);
      expect(await store.result(done.id)).toBeNull();
      expect(await store.job(done.id)).toMatchObject({
        resultPurgedAtMs: clock.nowMs(),
        state: { status: "succeeded" },
      });
      expect((await store.usage()).storedBytes).toBe(0);
    });

    test("a tombstone and its key go a day after the answer", async () => {
      const { store, owner, clock } = await open({ resultTtlMs: HOUR_MS });
      const done = await finished(store, owner, "answer", keyed("k"));
      await clock.runUntil(clock.nowMs() + HOUR_MS);
      await store.prune();
      await clock.runUntil(clock.nowMs() + 24 * HOUR_MS - 1);
      await store.prune();
      const replayed = await store.add(keyed("k"));
      await clock.runUntil(clock.nowMs() + 1);

      await store.prune();

      expect(replayed).toMatchObject({ kind: "replayed", job: { id: done.id } });
      expect(await store.job(done.id)).toBeNull();
      expect(await store.eventsAfter(done.id, null, 10)).toEqual([]);
      expect((await store.add(keyed("k"))).kind).toBe("added");
    });

    test("a live job is never pruned, however old", async () => {
      const { store, clock } = await open({ resultTtlMs: HOUR_MS });
      const job = await added(store);
      await clock.runUntil(clock.nowMs() + 1_000 * HOUR_MS);

      await store.prune();

      expect(await store.job(job.id)).toEqual(job);
      expect(await store.body(job.id)).not.toBeNull();
    });

    test("reading shortens an answer's life only where that is configured", async () => {
      const plain = await open({ resultTtlMs: 24 * HOUR_MS });
      const short = await open({ resultTtlMs: 24 * HOUR_MS, readTtlMs: HOUR_MS });
      for (const { store, owner, clock } of [plain, short]) {
        const done = await finished(store, owner);
        store.markRead(done.id);
        store.markRead(done.id);
        await noted(store, clock);
        await clock.runUntil(clock.nowMs() + HOUR_MS);
        await store.prune();
      }

      const left = await Promise.all(
        [plain, short].map(
          async ({ store }) => (await store.jobs({ caller: null, order: "oldest", limit: 1 })).data[0],
        ),
      );

      expect(left.map((job) => job?.resultReadAtMs !== null)).toEqual([true, true]);
      expect(left.map((job) => job?.resultPurgedAtMs !== null)).toEqual([false, true]);
    });

    test("when room is short read answers go first, and an unread one never", async () => {
      const { store, owner, clock } = await open({ maxStoredBytes: 1_000 });
      const text = "x".repeat(100);
      const read = await finished(store, owner, text, newJob({ text }));
      const unread = await finished(store, owner, text, newJob({ text }));
      store.markRead(read.id);
      await noted(store, clock);

      const first = await store.add(newJob({ text: "y".repeat(700) }));
      const second = await store.add(newJob({ text: "y".repeat(200) }));

      expect(first.kind).toBe("added");
      expect(second).toEqual({ kind: "storage_full" });
      expect([await store.result(read.id), await store.body(read.id)]).toEqual([null, null]);
      expect(await store.result(unread.id)).not.toBeNull();
      expect(await store.job(read.id)).toMatchObject({ resultPurgedAtMs: clock.nowMs() });
    });

    test("bytes of a cancelled job make room, since it has no answer", async () => {
      const { store } = await open({ maxStoredBytes: 1_000 });
      const job = await added(store, newJob({ text: "x".repeat(900) }));
      await store.end(job.id, { type: "cancel", reason: "client" });

      const next = await store.add(newJob({ text: "y".repeat(900) }));

      expect(next.kind).toBe("added");
    });

    test("a body that can never fit costs nobody an answer", async () => {
      const { store, owner, clock } = await open({ maxStoredBytes: 1_000 });
      const read = await finished(store, owner);
      store.markRead(read.id);
      await noted(store, clock);

      const big = await store.add(newJob({ text: "z".repeat(1_001) }));

      expect(big).toEqual({ kind: "storage_full" });
      expect(await store.result(read.id)).not.toBeNull();
    });

    test("a full store still finishes what runs", async () => {
      const { store, owner } = await open({ maxStoredBytes: 1_000 });
      const job = await added(store, newJob({ text: "x".repeat(990) }));
      const running = await claimed(store, owner, job.id);
      const back = await store.requeue(fenceOf(running), { charge: "none", delayMs: 0 }, INTERRUPTED);
      const again = await claimed(store, owner, back?.id ?? job.id);
      const result = { status: 200, headers: {}, body: new Uint8Array(5_000) };

      const done = await store.finish(
        fenceOf(again),
        { kind: "succeeded", result },
        { firstByteAtMs: null, outcome: "succeeded", detail: null },
      );

      expect(done?.state.status).toBe("succeeded");
      expect((await store.result(job.id))?.body.byteLength).toBe(5_000);
    });

    test("large numbers go in small batches, and the caller is told that more is left", async () => {
      const { store, clock } = await open({ resultTtlMs: HOUR_MS });
      const jobs = await Promise.all(Array.from({ length: 1_100 }, () => added(store)));
      await Promise.all(jobs.map((job) => store.end(job.id, { type: "cancel", reason: "client" })));
      await clock.runUntil(clock.nowMs() + HOUR_MS);

      const rounds = [await store.prune(), await store.prune(), await store.prune()];

      expect(rounds).toEqual([true, true, false]);
      expect(await store.usage()).toMatchObject({ storedBytes: 0, jobs: 1_100 });
    });
  });
}
