// Walks along an index in slices, so that a look through many rows never holds up a poll.

import type { Database, Statement } from "better-sqlite3";
import type { Bound } from "./job-rows-sql.ts";

/** Most rows looked at before others get their turn. */
const SLICE_ROWS = 500;

export type Found = readonly [id: string, matches: number, waitMs?: number];

export interface Walked {
  /** What matches, in the index's order. */
  readonly found: readonly Found[];
  /** Before the end of the range. */
  readonly stopped: boolean;
  /** The last row that was looked at. */
  readonly last: string | null;
  readonly looked: number;
}

export interface Road {
  /** Its rows are `Found`, at most `@rows`. */
  readonly sql: string;
  readonly bound: Bound;
  /** What to bind so as to go on behind a row. */
  behind(row: Found): Bound;
}

/** Stops once `most` match, or `budget` rows were looked at. */
export interface Reach {
  readonly most: number;
  readonly budget: number;
}

export type Walk = (road: Road, reach: Reach) => Promise<Walked>;

/** @param breathe Lets others have their turn. */
export function createWalk(db: Database, breathe: () => Promise<void>): Walk {
  const statements = new Map<string, Statement<[Bound], Found>>();
  const prepared = (sql: string): Statement<[Bound], Found> => {
    const known = statements.get(sql) ?? (db.prepare<[Bound], Found>(sql).raw() as Statement<[Bound], Found>);
    statements.set(sql, known);
    return known;
  };
  return async ({ sql, bound, behind }, { most, budget }) => {
    const found: Found[] = [];
    let from: Bound = bound;
    let last: Found | undefined;
    let looked = 0;
    for (let rows = Math.min(SLICE_ROWS, most + 1); ; rows = SLICE_ROWS) {
      const slice = prepared(sql).all({ ...from, rows });
      for (const row of slice) if (row[1] === 1) found.push(row);
      looked += slice.length;
      last = slice.at(-1) ?? last;
      const over = slice.length < rows;
      if (over || found.length >= most || looked >= budget) {
        return { found, stopped: !over, last: last?.[0] ?? null, looked };
      }
      if (last !== undefined) from = { ...bound, ...behind(last) };
      await breathe();
    }
  };
}
