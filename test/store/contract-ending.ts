// Ends by somebody else's word, and the events of a job's life.

import { describe, expect, test } from "vitest";
import type { Bench } from "./contract.ts";
import { added, answer, claimed, ENDED, fenceOf, finished, INTERRUPTED } from "./given.ts";

export function exerciseEnding({ open }: Bench): void {
  describe("ending", () => {
    test("a queued job is cancelled, and its late claim gets nothing", async () => {
      const { store, owner, clock } = await open();
      const job = await added(store);

      const end = await store.end(job.id, { type: "cancel", reason: "client" });

      expect(end).toMatchObject({ changed: true, before: "queued", job: { epoch: 1 } });
      expect(end?.job.state).toEqual({
        status: "cancelled",
        reason: "client",
        startedAtMs: null,
        finishedAtMs: clock.nowMs(),
      });
      await expect(claimed(store, owner, job.id)).rejects.toThrow("could not be claimed");
    });

    test("cancelling a running job wins over its completion", async () => {
      const { store, owner } = await open();
      const running = await claimed(store, owner, (await added(store)).id);

      const [end, done] = await Promise.all([
        store.end(running.id, { type: "cancel", reason: "lease_expired" }),
        store.finish(fenceOf(running), { kind: "succeeded", result: answer() }, ENDED),
      ]);

      expect(end).toMatchObject({ changed: true, before: "running" });
      expect(done).toBeNull();
      expect(await store.result(running.id)).toBeNull();
      expect(await store.attempts(running.id)).toMatchObject([{ outcome: "cancelled", detail: "lease_expired" }]);
    });

    test("completion wins over a later cancel, which reports what is", async () => {
      const { store, owner } = await open();
      const running = await claimed(store, owner, (await added(store)).id);

      const [done, end] = await Promise.all([
        store.finish(fenceOf(running), { kind: "succeeded", result: answer() }, ENDED),
        store.end(running.id, { type: "cancel", reason: "client" }),
      ]);

      expect(done?.state.status).toBe("succeeded");
      expect(end).toEqual({ changed: false, before: "succeeded", job: done });
      expect(await store.result(running.id)).not.toBeNull();
    });

    test("a deadline expires what waits and cancels what runs", async () => {
      const { store, owner } = await open();
      const waits = await added(store);
      const runs = await claimed(store, owner, (await added(store)).id);

      const expired = await store.end(waits.id, { type: "expire" });
      const cancelled = await store.end(runs.id, { type: "expire" });

      expect(expired?.job.state.status).toBe("expired");
      expect(cancelled?.job.state).toMatchObject({ status: "cancelled", reason: "deadline" });
    });

    test("a job can fail by the router's own word", async () => {
      const { store } = await open();
      const job = await added(store);
      const error = { code: "load_failed", message: "five loads failed" } as const;

      const end = await store.end(job.id, { type: "fail", error });

      expect(end?.job.state).toMatchObject({ status: "failed", error, startedAtMs: null });
      expect(await store.job(job.id)).toEqual(end?.job);
    });

    test("events tell a life in order, and a cursor continues it", async () => {
      const { store, owner } = await open();
      const job = await added(store);
      const first = await claimed(store, owner, job.id);
      await store.requeue(fenceOf(first), { charge: "interruption", delayMs: 0 }, INTERRUPTED);
      const second = await claimed(store, owner, job.id);
      await store.finish(fenceOf(second), { kind: "succeeded", result: answer() }, ENDED);

      const head = await store.eventsAfter(job.id, null, 2);
      const tail = await store.eventsAfter(job.id, head[1]?.cursor ?? null, 10);

      expect([...head, ...tail].map((event) => event.type)).toEqual([
        "queued",
        "started",
        "requeued",
        "started",
        "completed",
      ]);
      expect(await store.eventsAfter(job.id, tail.at(-1)?.cursor ?? null, 10)).toEqual([]);
    });

    test("every way to end leaves its event", async () => {
      const { store, owner } = await open();
      const lives = [await added(store), await added(store), await added(store), await finished(store, owner)];
      const error = { code: "poison", message: "" } as const;
      await store.end(lives[0]?.id ?? ("" as never), { type: "cancel", reason: "admin" });
      await store.end(lives[1]?.id ?? ("" as never), { type: "expire" });
      await store.end(lives[2]?.id ?? ("" as never), { type: "fail", error });

      const last = await Promise.all(lives.map(async ({ id }) => (await store.eventsAfter(id, null, 9)).at(-1)?.type));

      expect(last).toEqual(["cancelled", "expired", "failed", "completed"]);
    });

    test("a purge removes body and answer of a final job, and leaves a live one alone", async () => {
      const { store, owner, clock } = await open();
      const done = await finished(store, owner);
      const live = await added(store);

      const purged = await store.purge(done.id);
      const untouched = await store.purge(live.id);

      expect(purged?.resultPurgedAtMs).toBe(clock.nowMs());
      expect([await store.body(done.id), await store.result(done.id)]).toEqual([null, null]);
      expect(await store.job(done.id)).toEqual(purged);
      expect(untouched).toEqual(live);
      expect(await store.body(live.id)).not.toBeNull();
    });
  });
}
