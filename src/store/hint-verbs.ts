// What the store keeps of the future: hints, when each model's work began in the past, which teaches its rhythm, and what
// else was learned.

import type { Hint } from "../domain/hint.ts";
import type { CallerId, HintId } from "../domain/ids.ts";
import type { SessionStart } from "../domain/journal.ts";

export interface HintLimits {
  readonly ofCaller: number;
  readonly ofAll: number;
}

export interface HintVerbs {
  /** After COMMIT. `too_many`: the caller, or all callers together, have as many as they may. */
  add(hint: Hint, limits: HintLimits): Promise<"added" | "too_many">;
  /** False: there is no such hint. */
  remove(id: HintId): Promise<boolean>;
  /** How its last time ended, and when the next one is. */
  note(hint: Pick<Hint, "id" | "last" | "atMs" | "untilMs">): Promise<void>;
  /** Everybody's, in the order in which they were made. */
  all(caller: CallerId | null): Promise<readonly Hint[]>;
  /** The last 64 of each model, oldest first. */
  sessions(): Promise<readonly SessionStart[]>;
  /** What earlier routers have noted, by key: the last 1,000. Each note is as its JSON says, whatever that is. */
  learned(): Promise<ReadonlyMap<string, unknown>>;
}

/** Of a store that keeps none. */
export const NO_HINTS: HintVerbs = {
  add: () => Promise.resolve("added"),
  remove: () => Promise.resolve(false),
  note: () => Promise.resolve(),
  all: () => Promise.resolve([]),
  sessions: () => Promise.resolve([]),
  learned: () => Promise.resolve(new Map()),
};
