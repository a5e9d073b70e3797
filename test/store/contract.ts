// What every store must do, whatever it is made of. A new store passes this suite before anything else is said of it.

import { describe } from "vitest";
import type { VirtualClock } from "../../src/simulator/virtual-clock.ts";
import type { StoreOptions } from "../../src/store/sqlite/open.ts";
import { exerciseAccepting } from "./contract-accepting.ts";
import { exerciseBatching } from "./contract-batching.ts";
import { exerciseEnding } from "./contract-ending.ts";
import { exerciseHistory } from "./contract-history.ts";
import { exerciseKeeping } from "./contract-keeping.ts";
import { exerciseLog } from "./contract-log.ts";
import { exerciseRecovery } from "./contract-recovery.ts";
import { exerciseRetention } from "./contract-retention.ts";
import { exerciseRunning } from "./contract-running.ts";
import type { Given } from "./given.ts";

export type OpenOptions = Partial<StoreOptions> & { readonly clock?: VirtualClock };

export interface Bench {
  /** An empty store. */
  open(options?: OpenOptions): Promise<Given>;
  /** The same data after the router that held it was killed: a new owner, nothing in memory. */
  reopen(killed: Given, options?: OpenOptions): Promise<Given>;
}

export function exerciseStore(name: string, bench: Bench): void {
  describe(name, () => {
    exerciseAccepting(bench);
    exerciseKeeping(bench);
    exerciseRunning(bench);
    exerciseEnding(bench);
    exerciseRecovery(bench);
    exerciseRetention(bench);
    exerciseLog(bench);
    exerciseBatching(bench);
    exerciseHistory(bench);
  });
}
