// What is counted of the stream of changes: who reads it, and what they have not taken.

import type { MetricSet } from "./metric-set.ts";

/** Readers of the stream of changes. */
export interface LiveFacts {
  readonly watching: number;
  /** Sent to them and not taken yet, of all together. */
  readonly untakenBytes: number;
  /** Since the start. */
  readonly withheldTotal: number;
}

const NOBODY: LiveFacts = { watching: 0, untakenBytes: 0, withheldTotal: 0 };

export function readLive(set: MetricSet, { watching, untakenBytes, withheldTotal } = NOBODY): void {
  set.readers.set(watching);
  set.untaken.set(untakenBytes);
  set.withheld.reset();
  set.withheld.inc(withheldTotal);
}
