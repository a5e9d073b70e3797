// Taking jobs in, and idempotency keys.

import { describe, expect, test } from "vitest";
import type { JobId } from "../../src/domain/ids.ts";
import type { Bench } from "./contract.ts";
import { added, caller, claimed, finished, jobOf, keyed, MODEL, newJob, nextHex, OTHER_MODEL } from "./given.ts";

export function exerciseAccepting({ open }: Bench): void {
  describe("accepting", () => {
    test("an accepted job is read back as it was answered, body byte for byte", async () => {
      const { store, clock } = await open();
      const job = newJob({
        text: '{"model":"alpha","n":2.0}',
        priority: 7,
        deadlineMs: 5_000,
        stream: true,
        traceparent: "00-a-b-01",
        clientRequestId: "abc",
        metadata: { team: "ocr", note: "ü\n" },
      });

      const made = await added(store, job);

      expect(await store.job(job.id)).toEqual(made);
      expect(made).toMatchObject({ priority: 7, rank: clock.nowMs() - 420_000, deadlineAtMs: clock.nowMs() + 5_000 });
      expect(made).toMatchObject({ durable: true, epoch: 0, attempts: 0, state: { status: "queued" } });
      const body = await store.body(job.id);
      expect(body).toMatchObject({ contentType: "application/json", sizeBytes: 25, modelSpan: [10, 15] });
      expect(body?.source.kind === "bytes" && Buffer.from(body.source.bytes).toString()).toBe(
        '{"model":"alpha","n":2.0}',
      );
      expect(body && Buffer.from(body.sha256)).toEqual(Buffer.from(job.body.sha256));
    });

    test("what was never stored is null, not an error", async () => {
      const { store } = await open();
      const nobody = `job_${nextHex()}` as JobId;

      expect(await store.job(nobody)).toBeNull();
      expect(await store.body(nobody)).toBeNull();
      expect(await store.result(nobody)).toBeNull();
      expect(await store.end(nobody, { type: "expire" })).toBeNull();
      expect(await store.purge(nobody)).toBeNull();
      expect(await store.eventsAfter(nobody, null, 10)).toEqual([]);
    });

    test("twenty requests at once under one key become one job", async () => {
      const { store } = await open();

      const all = await Promise.all(Array.from({ length: 20 }, () => store.add(keyed("k"))));

      expect(all.filter((each) => each.kind === "added")).toHaveLength(1);
      expect(all.filter((each) => each.kind === "replayed")).toHaveLength(19);
      expect(new Set(all.map((each) => jobOf(each).id)).size).toBe(1);
      expect((await store.usage()).jobs).toBe(1);
    });

    test("the same key with another request is refused and stores nothing", async () => {
      const { store } = await open();
      await store.add(keyed("k", "one"));

      const second = await store.add(keyed("k", "two"));

      expect(second).toEqual({ kind: "key_reused" });
      expect((await store.usage()).jobs).toBe(1);
    });

    test("keys of different callers never meet", async () => {
      const { store } = await open();
      const one = await store.add(keyed("k", "same", { caller: caller("one") }));

      const two = await store.add(keyed("k", "same", { caller: caller("two") }));

      expect(two.kind).toBe("added");
      expect(jobOf(two).id).not.toBe(jobOf(one).id);
    });

    test.each(["lease_expired", "disconnect"] as const)("a key whose job ended by %s starts anew", async (reason) => {
      const { store } = await open();
      const first = jobOf(await store.add(keyed("k", "one")));
      await store.end(first.id, { type: "cancel", reason });

      const second = await store.add(keyed("k", "two"));

      expect(second.kind).toBe("added");
      expect((await store.add(keyed("k", "two"))).kind).toBe("replayed");
      expect((await store.job(first.id))?.state).toMatchObject({ status: "cancelled", reason });
    });

    test.each(["client", "admin", "deadline"] as const)("a key whose job ended by %s stays taken", async (reason) => {
      const { store } = await open();
      const first = jobOf(await store.add(keyed("k")));
      await store.end(first.id, { type: "cancel", reason });

      const second = await store.add(keyed("k"));

      expect(second).toMatchObject({ kind: "replayed", job: { id: first.id, state: { status: "cancelled" } } });
    });

    test("a key outlives the answer it led to", async () => {
      const { store, owner } = await open();
      const done = await finished(store, owner, "answer", keyed("k"));
      await store.purge(done.id);

      const again = await store.add(keyed("k"));

      expect(again).toMatchObject({ kind: "replayed", job: { id: done.id } });
    });

    test("a job that cannot be stored harms no neighbour in its commit", async () => {
      const { store } = await open();
      const taken = await added(store);

      const [before, bad, after] = await Promise.allSettled([
        store.add(newJob()),
        store.add(newJob({ id: taken.id })),
        store.add(newJob()),
      ]);

      expect([before.status, bad.status, after.status]).toEqual(["fulfilled", "rejected", "fulfilled"]);
      expect(bad).toMatchObject({ reason: { name: "StoreError", outcome: "unavailable" } });
      expect((await store.usage()).jobs).toBe(3);
    });

    test("a synchronous request's row follows without its body, and it can be claimed at once", async () => {
      const { store, owner } = await open();

      const { job, recorded } = store.addVolatile(newJob());
      const running = await claimed(store, owner, job.id);
      await recorded;

      expect(job).toMatchObject({ durable: false, state: { status: "queued" } });
      expect(running).toMatchObject({ id: job.id, durable: false, epoch: 1 });
      expect(await store.body(job.id)).toBeNull();
      expect((await store.usage()).storedBytes).toBe(0);
    });

    test("queued durable jobs come back in pages, in the order of acceptance", async () => {
      const { store, owner } = await open();
      const urgent = { priority: 100 };
      const jobs = [await added(store), await added(store, newJob(urgent)), await added(store), await added(store)];
      await claimed(store, owner, jobs[2]?.id as JobId);
      await store.addVolatile(newJob()).recorded;

      const first = await store.live(null, 2);
      const second = await store.live(first.at(-1)?.id ?? null, 2);

      expect([...first, ...second].map((job) => job.id)).toEqual([jobs[0]?.id, jobs[1]?.id, jobs[3]?.id]);
      expect(await store.live(second.at(-1)?.id ?? null, 2)).toEqual([]);
    });

    test("lists filter by caller, status, model and metadata, and page by cursor in both orders", async () => {
      const { store } = await open();
      const mine = caller("me");
      for (let i = 0; i < 30; i++) {
        const metadata = { team: i % 3 === 0 ? "ocr" : "chat" };
        await added(
          store,
          newJob({ caller: i % 2 === 0 ? mine : caller("other"), metadata, model: i < 15 ? MODEL : OTHER_MODEL }),
        );
      }
      const all = await store.jobs({ caller: mine, order: "oldest", limit: 100 });
      const query = {
        caller: mine,
        metadata: { team: "ocr" },
        model: MODEL,
        status: ["queued"],
        order: "newest",
      } as const;

      const page = await store.jobs({ ...query, limit: 2 });
      const rest = await store.jobs({ ...query, limit: 2, after: page.data[1]?.id as JobId });

      expect(all.data).toHaveLength(15);
      expect(all.hasMore).toBe(false);
      expect([...page.data, ...rest.data].map((job) => job.id)).toEqual([12, 6, 0].map((i) => all.data[i / 2]?.id));
      expect([page.hasMore, rest.hasMore]).toEqual([true, false]);
      expect((await store.jobs({ ...query, status: ["failed"], limit: 5 })).data).toEqual([]);
    });
  });
}
