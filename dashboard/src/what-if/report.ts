// Which two accounts of a replay's report stand side by side.

import type { Account, Other, ReplayReport } from "../../../src/client/wire-replay.ts";

export interface Sides {
  /** With the settings that ran. */
  readonly before: Account;
  /** With the others; the same where none were tried. */
  readonly after: Account;
  readonly other: Other | null;
}

/** Null: the report holds no account at all. */
export function sidesOf({ accounts, others }: ReplayReport): Sides | null {
  const [other = null] = others;
  const find = (title: string): Account | undefined => accounts.find((account) => account.title === title);
  const before = (other === null ? find("replayed") : find(other.against)) ?? accounts[0];
  const after = other === null ? before : find(other.title);
  return before === undefined || after === undefined ? null : { before, after, other };
}
