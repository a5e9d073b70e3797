// What the log says about one model within a stretch of time: for explanations. Instants are router time.

import type { DecisionKind, DecisionReason } from "../domain/decision.ts";
import type { DecisionId, DeviceId, ModelName } from "../domain/ids.ts";
import type { LoadRecord } from "../domain/journal.ts";

/** A decision without its arithmetic. */
export interface DecisionSketch {
  readonly id: DecisionId;
  readonly atMs: number;
  readonly kind: DecisionKind;
  readonly reason: DecisionReason;
  readonly device: DeviceId;
}

export interface ModelLog {
  /** Its loads that ended in the range, both ends included, oldest first. */
  loads(model: ModelName, fromMs: number, toMs: number, limit: number): Promise<readonly LoadRecord[]>;
  /** Decisions of the range that move it, find it loaded or have its work waiting; newest first. */
  decisions(model: ModelName, fromMs: number, toMs: number, limit: number): Promise<readonly DecisionSketch[]>;
}

/** Of a store that keeps none. */
export const NO_MODEL_LOG: ModelLog = {
  loads: () => Promise.resolve([]),
  decisions: () => Promise.resolve([]),
};
