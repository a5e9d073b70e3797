// Batches and deliveries, whatever the store is made of: a line becomes a job once, ends are counted with the end, files
// come with the status, and an event is noted with what it tells.

import { describe, expect, it } from "vitest";
import type { BatchId, FileId, JobId } from "../../src/domain/ids.ts";
import { LOCAL_CALLER } from "../../src/domain/ids.ts";
import type { BatchLine, FedLine, NewBatch } from "../../src/store/batch-verbs.ts";
import type { NewFile } from "../../src/store/file-verbs.ts";
import type { Bench } from "./contract.ts";
import { answer, claimed, ENDED, fenceOf, type Given, newJob, nextHex } from "./given.ts";

const CHAT = "/v1/chat/completions";
const HOOKS = [{ endpoint: "hook_1", events: ["batch.*"] }];

const newFile = (over: Partial<NewFile> = {}): NewFile => ({
  ...{ id: `file-${nextHex()}` as FileId, caller: LOCAL_CALLER, purpose: "batch", filename: "in.jsonl" },
  ...{ sizeBytes: 100, uri: `file:spool/req_${nextHex()}`, ttlMs: null, ...over },
});

const newBatch = (inputFile: FileId): NewBatch => ({
  ...{ id: `batch_${nextHex()}` as BatchId, caller: LOCAL_CALLER, endpoint: CHAT, inputFile },
  ...{ completionWindow: "24h", windowMs: 86_400_000, outputTtlMs: null, metadata: { a: "b" } },
});

const lineAt = (line: number, model = "alpha"): BatchLine => ({
  ...{ line, model, customId: `r${line}`, bodyStart: line * 10, bodySize: 10, modelSpan: [2, 5] },
  sha256: new Uint8Array(32),
});

const fed = (line: number): FedLine => {
  const { body } = newJob();
  const source = { kind: "file", uri: `file:spool/in#${line}+17` } as const;
  return { line, job: newJob({ leaseMs: null, body: { ...body, source } }) };
};

/** A batch with indexed lines, in progress. */
async function begun({ store }: Given, lines: number): Promise<BatchId> {
  const file = newFile();
  await store.files.add(file);
  const batch = newBatch(file.id);
  await store.batches.add(batch, 10);
  await store.batches.index(
    batch.id,
    Array.from({ length: lines }, (_, n) => lineAt(n + 1, n % 2 === 0 ? "alpha" : "beta")),
  );
  await store.batches.begin(batch.id, lines);
  return batch.id;
}

async function succeeded({ store, owner }: Given, id: JobId): Promise<void> {
  const running = await claimed(store, owner, id);
  await store.finish(fenceOf(running), { kind: "succeeded", result: answer() }, ENDED);
}

const idsOf = (jobs: Awaited<ReturnType<Given["store"]["batches"]["feed"]>>): JobId[] =>
  typeof jobs === "string" ? [] : jobs.map(({ id }) => id);

export function exerciseBatching(bench: Bench): void {
  describe("batches", () => {
    it("a line becomes a job once, also when it is fed again after a crash", async () => {
      const first = await bench.open();
      const id = await begun(first, 4);
      expect(idsOf(await first.store.batches.feed(id, [fed(1), fed(2)]))).toHaveLength(2);
      expect(idsOf(await first.store.batches.feed(id, [fed(2), fed(3)]))).toHaveLength(1);

      const { store } = await bench.reopen(first);

      expect(await store.batches.waiting(id)).toEqual(new Map([["beta", 1]]));
      expect((await store.batches.next(id, "beta", 10)).map(({ line }) => line)).toEqual([4]);
      expect(await store.batches.liveJobs(id)).toHaveLength(3);
      expect((await store.usage()).jobs).toBe(3);
    });

    it("indexing the same lines again changes nothing, and nothing is indexed once it is in progress", async () => {
      const { store } = await bench.open();
      const file = newFile();
      await store.files.add(file);
      const { id } = (await store.batches.add(newBatch(file.id), 10)) as { id: BatchId };

      expect(await store.batches.index(id, [lineAt(1), lineAt(2)])).toBe(true);
      expect(await store.batches.index(id, [lineAt(1), lineAt(2), lineAt(3)])).toBe(true);
      expect(await store.batches.waiting(id)).toEqual(new Map([["alpha", 3]]));
      await store.batches.begin(id, 3);
      expect(await store.batches.index(id, [lineAt(4)])).toBe(false);
    });

    it("an end is counted with the end: once, whatever it is", async () => {
      const given = await bench.open();
      const id = await begun(given, 3);
      const [one, two] = idsOf(await given.store.batches.feed(id, [fed(1), fed(2), fed(3)]));
      await succeeded(given, one as JobId);
      await given.store.end(two as JobId, { type: "cancel", reason: "client" });
      await given.store.end(two as JobId, { type: "cancel", reason: "client" });

      const { store } = await bench.reopen(given);

      expect(await store.batches.get(LOCAL_CALLER, id)).toMatchObject({ total: 3, completed: 1, failed: 1 });
    });

    it("of two changes of status that race, one happens", async () => {
      const given = await bench.open();
      const { store } = given;
      const id = await begun(given, 1);

      const [cancelled, finalized] = await Promise.all([
        store.batches.cancel(LOCAL_CALLER, id),
        store.batches.finalize(id),
      ]);

      expect(cancelled?.status).toBe("cancelling");
      expect(finalized).toBeNull();
      expect(await store.batches.feed(id, [fed(1)])).toBe("stopped");
      expect(await store.batches.begin(id, 1)).toBeNull();
    });

    it("ends with its files and its event in one transaction, and not twice", async () => {
      const given = await bench.open({ subscriptions: HOOKS });
      const { store } = given;
      const id = await begun(given, 1);
      await store.batches.finalize(id);
      const output = newFile({ purpose: "batch_output" });
      const closing = { status: "completed", completed: 1, failed: 0, output, errors: null } as const;

      expect(await store.batches.close(id, closing)).toMatchObject({ status: "completed", outputFile: output.id });
      expect(await store.batches.close(id, { ...closing, output: newFile() })).toBeNull();

      expect(await store.files.get(LOCAL_CALLER, output.id)).toMatchObject({ sizeBytes: 100 });
      expect((await store.files.list({ caller: LOCAL_CALLER, order: "newest", limit: 10 })).data).toHaveLength(2);
      const [event, ...more] = await store.deliveries.next("hook_1", 10);
      expect(event).toMatchObject({ type: "batch.completed", subject: id, attempts: 0 });
      expect(more).toEqual([]);
      expect(await store.batches.open()).toEqual([]);
    });

    it("keeps answers and input until it is over, however old and however short of room, and lets them go then", async () => {
      const given = await bench.open({ resultTtlMs: 1_000 });
      const { store, clock } = given;
      const id = await begun(given, 1);
      const [job] = idsOf(await store.batches.feed(id, [fed(1)]));
      await succeeded(given, job as JobId);
      store.markRead(job as JobId);
      const input = (await store.batches.get(LOCAL_CALLER, id))?.inputFile as FileId;
      await store.files.remove(LOCAL_CALLER, input);
      await clock.runUntil(clock.nowMs() + 3_600_000);
      while (await store.prune());
      expect(await store.result(job as JobId)).not.toBeNull();
      expect((await store.usage()).storedBytes).toBe(100 + answer().body.byteLength);

      await store.batches.finalize(id);
      await store.batches.close(id, { status: "completed", completed: 1, failed: 0, output: null, errors: null });
      while (await store.prune());

      expect(await store.result(job as JobId)).toBeNull();
      expect((await store.usage()).storedBytes).toBe(0);
      expect(await store.batches.outcomes(id, 0, 10)).toEqual([]);
    });

    it("is fed nothing while there is no room for answers, and goes on when there is", async () => {
      const given = await bench.open({ maxStoredBytes: 102 });
      const { store } = given;
      const id = await begun(given, 2);
      const [job] = idsOf(await store.batches.feed(id, [fed(1)]));
      await succeeded(given, job as JobId);

      expect(await store.batches.feed(id, [fed(2)])).toBe("storage_full");
      expect(await store.batches.waiting(id)).toEqual(new Map([["beta", 1]]));
      await store.purge(job as JobId);
      expect(idsOf(await store.batches.feed(id, [fed(2)]))).toHaveLength(1);
    });

    it("is refused for a file that is not there, or not the caller's, and beyond so many", async () => {
      const { store } = await bench.open();
      const file = newFile();
      await store.files.add(file);

      expect(await store.batches.add(newBatch(newFile().id), 10)).toBe("file_not_found");
      expect(await store.batches.add({ ...newBatch(file.id), caller: "else" as never }, 10)).toBe("file_not_found");
      await store.batches.add(newBatch(file.id), 1);
      expect(await store.batches.add(newBatch(file.id), 1)).toBe("too_many");
    });
  });
}
