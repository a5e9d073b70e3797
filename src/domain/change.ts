// What those who watch a router are shown beside its events: whole rows and stretches, for a page and never for the log.

import type { DecisionId, DeviceId, ModelName } from "./ids.ts";
import type { Job } from "./job.ts";

/** What a model does on a device. `failed` is a load that failed. */
export type SpanPhase = "loading" | "serving" | "idle" | "draining" | "unloading" | "failed";

/** How short a pause between two jobs may be and still be a stretch of its own: a second, or a minute. */
export type Grain = "fine" | "coarse";

/** One stretch of one model on one device. Stretches of one model on one device touch or leave gaps, and never overlap. */
export interface Span {
  readonly device: DeviceId;
  readonly model: ModelName;
  readonly phase: SpanPhase;
  /** Router time. */
  readonly fromMs: number;
  /** Null: it goes on. */
  readonly toMs: number | null;
  /** What began the move that it is part of; null: none did. */
  readonly decision: DecisionId | null;
}

/** `job`: its state has changed to this. `span`: it began, or ended as this. */
export type Change = { readonly type: "job"; readonly job: Job } | { readonly type: "span"; readonly span: Span };
