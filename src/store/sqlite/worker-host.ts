// The main thread's end of the writer's thread.

import { Worker } from "node:worker_threads";
import type { Body, Result } from "../store.ts";
import { StoreError } from "../store.ts";
import type { Request } from "./batch.ts";
import type { Host, HostEvents, Upkeep } from "./host.ts";
import type { Answer, FromWorker, ToWorker, WorkerSetup } from "./worker-message.ts";

interface Asked {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** Resolves once the writer has its connection. @throws {StoreOpenError} by way of `Error` when it cannot. */
export async function startWorkerHost(setup: WorkerSetup, events: HostEvents, script = beside()): Promise<Host> {
  const worker = new Worker(script, { workerData: setup });
  const asked = new Map<number, Asked>();
  /** No more verbs: broken, closing or closed. */
  let closed = false;
  let n = 0;
  const gone = new Promise<void>((resolve) => worker.once("exit", () => resolve()));
  await ready(worker);

  const fail = (error: Error): void => {
    for (const { reject } of asked.values()) reject(new StoreError("unknown", error.message));
    asked.clear();
    if (!closed) events.broken(error);
    closed = true;
  };
  worker.on("message", (message: FromWorker) => {
    if (message.type === "replies") {
      for (const report of message.commits) events.commit(report);
      events.replies(message.replies);
    } else if (message.type === "answer") {
      settle(asked.get(message.n), message.answer);
      asked.delete(message.n);
    } else if (message.type === "broken") fail(new Error(message.message));
  });
  worker.on("error", fail);
  worker.on("exit", (code) => fail(new Error(`the writer's thread ended with code ${code}`)));

  const post = (message: ToWorker, transfer: ArrayBuffer[] = []): void => worker.postMessage(message, transfer);
  const ask = <Value>(make: (n: number) => ToWorker): Promise<Value> => {
    if (closed) return Promise.reject(new StoreError("unavailable", "the store is closed"));
    return new Promise((resolve, reject) => {
      asked.set(++n, { resolve: resolve as (value: unknown) => void, reject });
      post(make(n));
    });
  };

  return {
    remote: true,
    schedule: setImmediate,
    submit(requests) {
      if (closed) return;
      const moved = requests.flatMap((request) => request.moved);
      post({ type: "requests", requests: moved.length === 0 ? requests : requests.map(bare) }, moved);
    },
    body: (id) => ask<Body | null>((at) => ({ type: "body", n: at, id })),
    result: (id) => ask<Result | null>((at) => ({ type: "result", n: at, id })),
    upkeep: () => ask<Upkeep>((at) => ({ type: "upkeep", n: at })),
    backup: (path) => ask<void>((at) => ({ type: "backup", n: at, path })),
    async close() {
      closed = true;
      // By message: terminating a thread inside SQLite can bring the process down.
      post({ type: "close", n: ++n });
      await gone;
    },
  };
}

/** Built, or from source: there the thread needs tsx, which it does not inherit. */
function beside(): URL {
  return new URL(import.meta.url.endsWith(".ts") ? "./worker-from-source.mjs" : "./worker.js", import.meta.url);
}

function ready(worker: Worker): Promise<void> {
  return new Promise((resolve, reject) => {
    worker.once("message", resolve);
    worker.once("error", reject);
    worker.once("exit", (code) => reject(new Error(`the writer's thread ended with code ${code} while it started`)));
  });
}

function settle(asked: Asked | undefined, answer: Answer): void {
  if (answer.ok) asked?.resolve(answer.value);
  else asked?.reject(new StoreError("unavailable", answer.message));
}

function bare(request: Request): Request {
  return request.moved.length === 0 ? request : { ...request, moved: [] };
}
