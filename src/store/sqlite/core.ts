// The database's side of every verb: synchronous, on one connection, with statements prepared once. It knows neither
// clock nor thread, so that the worker and the simulator run the very same code.

import type { Database } from "better-sqlite3";
import type { OwnerId } from "../../domain/ids.ts";
import type { Subscription } from "../delivery-verbs.ts";
import { type Accepting, createAccepting } from "./accept.ts";
import { createLining, createTally, type Lining } from "./batch-lines.ts";
import { type Batching, createBatching } from "./batches.ts";
import { createDelivering, type Delivering } from "./deliveries.ts";
import { createEnding, type Ending } from "./ending.ts";
import { createFiling, type Filing } from "./files.ts";
import { createHinting, type Hinting } from "./hints.ts";
import type { Stamp } from "./job-row.ts";
import { createJournal, type Journal } from "./journal.ts";
import { createKeeping, type Keeping } from "./keep.ts";
import { Ledger } from "./ledger.ts";
import { createPurger } from "./purger.ts";
import { createRecovering, type Recovering } from "./recovery.ts";
import { createRetention, type Retention } from "./retention.ts";
import { createRunning, type OnEnd, type Running } from "./running.ts";
import { createSpending } from "./spending.ts";

export interface CoreSettings {
  readonly owner: OwnerId;
  readonly resultTtlMs: number;
  /** From the first complete read; null: reading shortens nothing. */
  readonly readTtlMs: number | null;
  readonly maxStoredBytes: number;
  /** Who wants to hear of what; none: nothing is noted. */
  readonly subscriptions: readonly Subscription[];
}

/** Verbs that write. Each runs inside a transaction and a savepoint of its own. */
export interface WriteVerbs
  extends Accepting,
    Keeping,
    Running,
    Recovering,
    Retention,
    Journal,
    Filing,
    Hinting,
    Batching,
    Delivering,
    Lining,
    Pick<Ending, "end" | "purge"> {
  /** Writes nothing but the stamp of its commit. */
  touch(at: Stamp): void;
  /** This router ends in good order. */
  stop(at: Stamp): void;
}

export type WriteVerb = keyof WriteVerbs;
type Tail<Args extends readonly unknown[]> = Args extends readonly [Stamp, ...infer Rest] ? Rest : never;
export type ArgsOf<Verb extends WriteVerb> = Tail<Parameters<WriteVerbs[Verb]>>;
export type ValueOf<Verb extends WriteVerb> = ReturnType<WriteVerbs[Verb]>;

export interface Core {
  readonly verbs: WriteVerbs;
  readonly ledger: Ledger;
  /** URIs of files whose rows are gone; to be removed after the commit, and forgotten after a rollback. */
  readonly discarded: string[];
}

export function createCore(db: Database, settings: CoreSettings): Core {
  const discarded: string[] = [];
  const ledger = new Ledger(db);
  const purger = createPurger(db, settings, ledger, discarded);
  const deliveries = createDelivering(db, settings.subscriptions);
  const tally = createTally(db);
  const spend = createSpending(db);
  const ended: OnEnd = (at, row, result, wentFirst) => {
    spend(row, wentFirst);
    tally(row);
    deliveries.announcer.jobEnded(at, row, result);
  };
  const ending = createEnding(db, settings, purger, ended);
  const files = createFiling(db, purger, ledger, discarded);
  const batches = createBatching(db, purger, files.keeper, deliveries.announcer);
  const accepting = createAccepting(db, purger, ledger);
  const stop = db.prepare("UPDATE boots SET clean = 1, alive_ms = max(alive_ms, ?) WHERE owner = ?");
  const verbs: WriteVerbs = {
    ...accepting,
    ...createKeeping(db, purger, ledger),
    ...createRunning(db, settings, ledger, ended),
    ...createRecovering(db, settings, ending),
    ...createRetention(db, settings, purger, ledger, files.keeper, batches.sweeper, deliveries.announcer),
    ...createJournal(db),
    ...createHinting(db),
    ...files.verbs,
    ...batches.verbs,
    ...deliveries.verbs,
    ...createLining(db, accepting),
    end: ending.end,
    purge: ending.purge,
    touch: () => undefined,
    stop(at) {
      stop.run(at.atMs, settings.owner);
    },
  };
  return { verbs, ledger, discarded };
}
