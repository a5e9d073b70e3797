// The writer's thread: the only connection that writes. It takes everything that has arrived, commits it once, and only
// then answers. While it waits for the disk, what arrives gathers for the next commit.

import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import Database from "better-sqlite3";
import { removeSpooled } from "../spool.ts";
import { backUp } from "./back-up.ts";
import { type CommitReport, createBatch, type Reply, type Request } from "./batch.ts";
import { assertDurable, prepareWriter } from "./connection.ts";
import { createContents } from "./contents.ts";
import { createCore } from "./core.ts";
import { checkpointAll, createUpkeep } from "./upkeep.ts";
import type { Answer, FromWorker, ToWorker, WorkerSetup } from "./worker-message.ts";

/** Verbs with large values: a commit is closed when it holds so many bytes, so that the WAL stays small. */
const MAX_BATCH_BYTES = 33_554_432;
const MAX_VALUE = Number.MAX_SAFE_INTEGER;

function start(port: MessagePort, setup: WorkerSetup): void {
  const db = new Database(setup.path, { fileMustExist: true });
  prepareWriter(db, setup.synchronous);
  const core = createCore(db, setup.settings);
  let commits: CommitReport[] = [];
  const run = createBatch(db, core, {}, (report) => commits.push(report));
  const contents = createContents(db);
  const upkeep = createUpkeep(db);
  const say = (message: FromWorker, transfer: ArrayBuffer[] = []): void => port.postMessage(message, transfer);
  let broken = false;
  let backups = Promise.resolve();

  const commit = (requests: readonly Request[]): void => {
    try {
      const replies: Reply[] = run(requests);
      removeSpooled(setup.directory, core.discarded.splice(0));
      say({ type: "replies", replies, commits });
      commits = [];
    } catch (error) {
      broken = true;
      say({ type: "broken", message: wordsOf(error) });
    }
  };
  const answer = (n: number, read: () => Extract<Answer, { ok: true }>["value"]): void => {
    try {
      const value = read();
      say({ type: "answer", n, answer: { ok: true, value } }, owned(value));
    } catch (error) {
      say({ type: "answer", n, answer: { ok: false, message: wordsOf(error) } });
    }
  };
  const whole = <Value>(value: Value | "large"): Value | null => (value === "large" ? null : value);
  const backup = async (n: number, path: string): Promise<void> => {
    try {
      await backUp(db, path);
      say({ type: "answer", n, answer: { ok: true, value: null } });
    } catch (error) {
      say({ type: "answer", n, answer: { ok: false, message: wordsOf(error) } });
    }
  };
  const close = (n: number): void => {
    answer(n, () => {
      checkpointAll(db);
      db.close();
      return null;
    });
    port.close();
  };
  const other = (message: Exclude<ToWorker, { type: "requests" }>): void => {
    const { n } = message;
    if (message.type === "body") answer(n, () => whole(contents.body(message.id, MAX_VALUE)));
    else if (message.type === "result") answer(n, () => whole(contents.result(message.id, MAX_VALUE)));
    else if (message.type === "upkeep") answer(n, upkeep);
    else if (message.type === "backup") backups = backups.then(() => backup(n, message.path));
    else void backups.then(() => close(n));
  };

  port.on("message", (first: ToWorker) => {
    let waiting: Request[] = [];
    const flush = (): void => {
      for (const part of parts(waiting, setup.maxBatch)) if (!broken) commit(part);
      waiting = [];
    };
    for (let message: ToWorker | undefined = first; message !== undefined; message = next(port)) {
      if (message.type === "requests") {
        for (const request of message.requests) waiting.push(request);
        continue;
      }
      flush();
      if (!broken || message.type === "close") other(message);
    }
    flush();
  });
  // The pragma can only be believed after a write.
  db.exec("UPDATE usage SET stamp_ms = stamp_ms");
  if (setup.synchronous === "FULL") assertDurable(db);
  say({ type: "ready" });
}

function next(port: MessagePort): ToWorker | undefined {
  return receiveMessageOnPort(port)?.message as ToWorker | undefined;
}

/** In order, cut into commits that are neither too long nor too heavy. */
function* parts(requests: readonly Request[], maxBatch: number): Generator<readonly Request[]> {
  let from = 0;
  let bytes = 0;
  for (const [i, request] of requests.entries()) {
    bytes += request.sizeBytes;
    if (i + 1 - from < maxBatch && bytes < MAX_BATCH_BYTES) continue;
    yield requests.slice(from, i + 1);
    from = i + 1;
    bytes = 0;
  }
  if (from < requests.length) yield requests.slice(from);
}

/** Buffers made for this answer alone are handed over instead of copied. */
function owned(value: unknown): ArrayBuffer[] {
  const candidates: unknown[] = [];
  if (typeof value === "object" && value !== null) {
    if ("body" in value) candidates.push(value.body);
    if ("source" in value) candidates.push((value.source as { bytes?: unknown }).bytes);
  }
  return candidates.flatMap((bytes) =>
    bytes instanceof Uint8Array && bytes.byteLength === bytes.buffer.byteLength && bytes.buffer instanceof ArrayBuffer
      ? [bytes.buffer]
      : [],
  );
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

if (parentPort !== null) start(parentPort, workerData as WorkerSetup);
