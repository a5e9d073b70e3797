// The core in this thread, for tests and the simulator: verbs of one tick commit together in a microtask, so that a
// virtual clock sees nothing but promises.

import type { Database } from "better-sqlite3";
import { backUp } from "./back-up.ts";
import { type BatchHooks, createBatch, type Request, SimulatedDeath } from "./batch.ts";
import { createContents } from "./contents.ts";
import type { Core } from "./core.ts";
import type { Host, HostEvents } from "./host.ts";
import { checkpointAll, createUpkeep } from "./upkeep.ts";

export function createInProcessHost(
  db: Database,
  core: Core,
  hooks: BatchHooks,
  events: HostEvents,
  remove: (uris: readonly string[]) => void,
): Host {
  const run = createBatch(db, core, hooks, events.commit);
  const contents = createContents(db);
  const upkeep = createUpkeep(db);
  let open = true;

  const submit = (requests: readonly Request[]): void => {
    try {
      const replies = run(requests);
      remove(core.discarded.splice(0));
      events.replies(replies);
    } catch (error) {
      if (error instanceof SimulatedDeath) events.died();
      else events.broken(error instanceof Error ? error : new Error(String(error)));
    }
  };
  const whole = <Value>(value: Value | "large"): Value => {
    if (value === "large") throw new Error("a value larger than any limit");
    return value;
  };

  return {
    remote: false,
    schedule: queueMicrotask,
    submit,
    body: async (id) => whole(contents.body(id, Number.MAX_SAFE_INTEGER)),
    result: async (id) => whole(contents.result(id, Number.MAX_SAFE_INTEGER)),
    upkeep: async () => upkeep(),
    backup: (path) => backUp(db, path),
    async close() {
      if (!open) return;
      open = false;
      checkpointAll(db);
    },
  };
}
