// Bugs put in on purpose, to show that a day finds them.

import type { Database } from "better-sqlite3";
import type { LogEntry } from "../../src/domain/journal.ts";
import type { Engine } from "../../src/engine/engine.ts";
import type { Store } from "../../src/store/store.ts";
import { overlay } from "./overlay.ts";

export interface Plant {
  readonly name: string;
  store?(store: Store, database: Database): Store;
  engine?(engine: Engine): Engine;
}

export const PLANTS: readonly Plant[] = [
  {
    name: "a stretch of waiting is not opened now and then",
    store: (store) => {
      let n = 0;
      const append: Store["append"] = (entries) =>
        store.append(entries.filter(({ type }) => type !== "wait.open" || ++n % 20 !== 0));
      return overlay(store, { append });
    },
  },
  {
    name: "decisions are not kept",
    store: (store) => {
      const append: Store["append"] = (entries) => store.append(entries.filter(({ type }) => type !== "decision"));
      return overlay(store, { append });
    },
  },
  {
    name: "a restart says nothing of the time between",
    store: (store) => overlay(store, { downtimes: () => Promise.resolve([]) }),
  },
  {
    name: "loads begin two seconds late in the log",
    store: (store) => {
      const late = (entry: LogEntry): LogEntry =>
        entry.type === "load"
          ? { ...entry, load: { ...entry.load, startedAtMs: entry.load.startedAtMs + 2_000 } }
          : entry;
      return overlay(store, { append: (entries) => store.append(entries.map(late)) });
    },
  },
  {
    name: "recovery is forgotten",
    store: (store) => overlay(store, { recover: async () => ({ requeued: 0, poisoned: 0, dropped: 0 }) }),
  },
  {
    name: "a poll does not renew",
    engine: (engine) => overlay(engine, { renew: () => {} }),
  },
  {
    name: "leases never lapse",
    store: (store) =>
      overlay(store, {
        end: (id, end) =>
          end.type === "cancel" && end.reason === "lease_expired" ? Promise.resolve(null) : store.end(id, end),
      }),
  },
  {
    name: "the fence is skipped",
    store: (store) =>
      overlay(store, {
        finish: async (fence, finish, attempt) => {
          const job = await store.job(fence.id);
          const owner = job?.state.status === "running" ? job.state.owner : fence.owner;
          return store.finish({ ...fence, epoch: job?.epoch ?? fence.epoch, owner }, finish, attempt);
        },
      }),
  },
  {
    name: "a cancelled job may still succeed",
    store: (store, database) =>
      overlay(store, {
        finish: async (fence, finish, attempt) => {
          const done = await store.finish(fence, finish, attempt);
          const uncancel = "UPDATE jobs SET status = 2, cancel_reason = NULL WHERE id = ? AND status = 4";
          if (done === null) database.prepare(uncancel).run(fence.id);
          return done;
        },
      }),
  },
  {
    name: "a cancel is answered and not written",
    store: (store) =>
      overlay(store, {
        end: async (id, end) => {
          const job = await store.job(id);
          if (end.type !== "cancel" || end.reason !== "client" || job === null) return store.end(id, end);
          const state = {
            status: "cancelled",
            startedAtMs: null,
            finishedAtMs: job.acceptedAtMs,
            reason: "client",
          } as const;
          return { job: { ...job, state }, changed: true, before: job.state.status };
        },
      }),
  },
  {
    name: "one key makes two jobs",
    store: (store) => overlay(store, { add: (job) => store.add({ ...job, idempotency: null }) }),
  },
  {
    name: "an answer is stored with a byte missing",
    store: (store) =>
      overlay(store, {
        finish: (fence, finish, attempt) => {
          if (finish.kind !== "succeeded") return store.finish(fence, finish, attempt);
          const result = { ...finish.result, body: finish.result.body.subarray(1) };
          return store.finish(fence, { ...finish, result }, attempt);
        },
      }),
  },
];
