// Group commit: everything that has arrived becomes one BEGIN IMMEDIATE ... COMMIT, and so one fsync. Each verb has its
// own savepoint, so that one that fails harms no neighbour.

import type { Database } from "better-sqlite3";
import type { Core, WriteVerb } from "./core.ts";
import type { Stamp } from "./job-row.ts";

export interface Request {
  /** Ascending; answers name it. */
  readonly n: number;
  readonly verb: WriteVerb;
  readonly at: Stamp;
  readonly args: readonly unknown[];
  /** What its values hold in memory beyond the ordinary. */
  readonly sizeBytes: number;
  /** Buffers that may change hands instead of being copied. */
  readonly moved: readonly ArrayBuffer[];
}

export type Reply =
  | { readonly n: number; readonly ok: true; readonly value: unknown }
  /** Nothing of it was written. */
  | { readonly n: number; readonly ok: false; readonly message: string; readonly code: string };

export interface BatchHooks {
  /** Called around COMMIT. Throwing means that the process died there: before, all is lost; after, nobody hears of it. */
  readonly commit?: (phase: "before" | "after", batch: number) => void;
}

export interface CommitReport {
  /** Verbs in the commit. */
  readonly jobs: number;
  readonly tookMs: number;
  /** Ordinal of the commit in this process, from 1. */
  readonly batch: number;
}

/** After this nothing may be acknowledged any more: it is not known what is on the disk. */
export class StoreBroken extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = "StoreBroken";
  }
}

/** Thrown by a hook's own throw: the simulated process is dead. */
export class SimulatedDeath extends Error {
  constructor(cause: unknown) {
    super("the simulated process died at a commit", { cause });
    this.name = "SimulatedDeath";
  }
}

export type RunBatch = (requests: readonly Request[]) => Reply[];

export function createBatch(
  db: Database,
  core: Core,
  hooks: BatchHooks,
  onCommit: (report: CommitReport) => void,
): RunBatch {
  const begin = db.prepare("BEGIN IMMEDIATE");
  const commit = db.prepare("COMMIT");
  const savepoint = db.prepare("SAVEPOINT verb");
  const release = db.prepare("RELEASE verb");
  const undo = db.prepare("ROLLBACK TO verb");
  let batch = 0;

  const rollback = (): void => {
    core.discarded.length = 0;
    core.ledger.undo();
    if (db.inTransaction) db.exec("ROLLBACK");
  };
  const one = ({ n, verb, at, args }: Request): Reply => {
    const mark = core.discarded.length;
    const counts = core.ledger.mark();
    savepoint.run();
    try {
      const run = core.verbs[verb] as (at: Stamp, ...args: readonly unknown[]) => unknown;
      const value = run(at, ...args);
      release.run();
      return { n, ok: true, value };
    } catch (error) {
      if (isBroken(error)) throw broken(`${verb} failed`, error);
      if (!db.inTransaction) throw error;
      undo.run();
      release.run();
      core.discarded.length = mark;
      core.ledger.undo(counts);
      return { n, ok: false, ...wordsOf(error) };
    }
  };
  const hook = (phase: "before" | "after"): void => {
    try {
      hooks.commit?.(phase, batch);
    } catch (error) {
      rollback();
      throw new SimulatedDeath(error);
    }
  };
  const finish = (requests: readonly Request[], beganMs: number): void => {
    core.ledger.write(requests.at(-1)?.at.atMs ?? 0);
    batch++;
    hook("before");
    try {
      commit.run();
    } catch (error) {
      // A full disk and a busy lock are known to have written nothing; of any other failure nobody knows.
      if (/^SQLITE_(FULL|BUSY)/.test(codeOf(error))) throw error;
      throw broken("COMMIT failed", error);
    }
    core.ledger.committed();
    hook("after");
    onCommit({ jobs: requests.length, tookMs: performance.now() - beganMs, batch });
  };

  const run: RunBatch = (requests) => {
    const beganMs = performance.now();
    try {
      begin.run();
      const replies = requests.map(one);
      finish(requests, beganMs);
      return replies;
    } catch (error) {
      if (error instanceof SimulatedDeath) throw error;
      rollback();
      if (error instanceof StoreBroken) throw error;
      if (isBroken(error)) throw broken("a transaction failed", error);
      // SQLite undid the whole transaction (a full disk does that): each alone, so that what still fits is done.
      const words = wordsOf(error);
      if (requests.length > 1 && words.code === "SQLITE_FULL") return requests.flatMap((request) => run([request]));
      return requests.map(({ n }) => ({ n, ok: false, ...words }));
    }
  };
  return run;
}

/** Failures after which the file, or what we know of it, cannot be trusted. */
function isBroken(error: unknown): boolean {
  return /^SQLITE_(IOERR_(?!WRITE)|CORRUPT|NOTADB|READONLY_DBMOVED|PROTOCOL)/.test(codeOf(error));
}

function broken(what: string, error: unknown): StoreBroken {
  const { code, message } = wordsOf(error);
  return new StoreBroken(`${what}: ${code} ${message}`, error);
}

export function codeOf(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" ? code : "";
}

/** SQLite's own words; they name columns and tables, never values. */
function wordsOf(error: unknown): { message: string; code: string } {
  return { message: error instanceof Error ? error.message : "unknown failure", code: codeOf(error) };
}
