// Plain synchronous requests that outlive their socket.

import { describe, expect, test } from "vitest";
import type { NewJob } from "../../src/store/store.ts";
import type { Bench } from "./contract.ts";
import { answer, authority, caller, claimed, ENDED, fenceOf, newJob } from "./given.ts";

const REPEAT = Buffer.alloc(32, 7);
const CAP = 3;

export function exerciseKeeping({ open, reopen }: Bench): void {
  describe("a synchronous request that is kept", () => {
    const waiting = (over: Partial<NewJob> = {}): NewJob => newJob({ origin: "socket", ...over });

    test("is durable with its body and stays who it was, queued or running", async () => {
      const { store, owner } = await open();
      const [queued, running] = [waiting(), waiting()];
      for (const job of [queued, running]) store.addVolatile(job);
      const started = await claimed(store, owner, running.id);

      const kept = [
        await store.keep({ id: queued.id, epoch: 0, body: queued.body, repeat: REPEAT }),
        await store.keep({ id: running.id, epoch: started.epoch, body: running.body, repeat: null }),
      ];

      expect(kept).toMatchObject([
        { id: queued.id, durable: true, origin: "socket", epoch: 0, state: { status: "queued" } },
        { ...started, durable: true },
      ]);
      expect(await store.body(queued.id)).toMatchObject({ sizeBytes: queued.body.sizeBytes });
      expect((await store.usage()).storedBytes).toBe(queued.body.sizeBytes + running.body.sizeBytes);
      expect((await store.live(null, 9)).map(({ id }) => id)).toEqual([queued.id]);
    });

    test("has its answer stored, and is found by its repetition and its caller alone", async () => {
      const { store, owner } = await open();
      const job = waiting();
      store.addVolatile(job);
      const running = await claimed(store, owner, job.id);
      await store.keep({ id: job.id, epoch: 1, body: job.body, repeat: REPEAT });

      await store.finish(fenceOf(running), { kind: "succeeded", result: answer("late") }, ENDED);

      expect(Buffer.from((await store.result(job.id))?.body ?? []).toString()).toBe("late");
      expect((await store.repeats(job.caller, REPEAT)).map(({ id }) => id)).toEqual([job.id]);
      expect(await store.repeats(caller("other"), REPEAT)).toEqual([]);
      expect(await store.repeats(job.caller, Buffer.alloc(32))).toEqual([]);
    });

    test("survives the death of its router, which other synchronous requests do not", async () => {
      const before = await open();
      const [kept, lost] = [waiting(), waiting()];
      for (const job of [kept, lost]) await before.store.addVolatile(job).recorded;
      await claimed(before.store, before.owner, kept.id);
      await before.store.keep({ id: kept.id, epoch: 1, body: kept.body, repeat: REPEAT });
      const after = await reopen(before);

      const recovery = await after.store.recover(authority(after.owner), await after.store.deadOwners(), CAP);

      expect(recovery).toEqual({ requeued: 1, poisoned: 0, dropped: 1 });
      expect((await after.store.live(null, 9)).map(({ id }) => id)).toEqual([kept.id]);
    });

    test("is not kept under another epoch, after its end, twice, or where there is no room", async () => {
      const { store } = await open({ maxStoredBytes: 40 });
      const [other, over, twice, large] = [
        waiting(),
        waiting(),
        waiting(),
        waiting({ ...newJob({ text: "x".repeat(60) }) }),
      ];
      for (const job of [other, over, twice, large]) await store.addVolatile(job).recorded;
      await store.end(over.id, { type: "cancel", reason: "disconnect" });
      const keep = ({ id, body }: NewJob, epoch = 0) => store.keep({ id, epoch, body, repeat: null });
      await keep(twice);

      const kept = [await keep(other, 1), await keep(over, 1), await keep(twice), await keep(large)];

      expect(kept).toEqual([null, null, null, null]);
      expect((await store.usage()).storedBytes).toBe(twice.body.sizeBytes);
    });
  });
}
