// The JSON of what operators watch: the stream, the timeline, series, replays. Instants and durations in these are Unix
// milliseconds and milliseconds, whole numbers, as their names say.

import type { DecisionWire, List, Receipt, WireStatus } from "./wire.ts";
import type { PartWire } from "./wire-explain.ts";
import type { DeviceStatusWire, ModelStatusWire, StatusWire } from "./wire-status.ts";

/** What a model did on a device. `failed` is a load that failed. */
export type SpanPhase = "loading" | "serving" | "idle" | "draining" | "unloading" | "failed";

/** `to_ms` null: it goes on. Rows are arrays, because a day has thousands. */
export type SpanRow = readonly [
  device: string,
  model: string,
  phase: SpanPhase,
  from_ms: number,
  to_ms: number | null,
  decision: string | null,
];

/** What an operator paused. `to_ms` null: it still holds; `device` null: the whole router; `who`: a key's name, or `local`. */
export type PauseRow = readonly [
  from_ms: number,
  to_ms: number | null,
  device: string | null,
  who: string,
  note: string | null,
];

/** A decision that moved something, as a mark above the lanes. */
export interface MoveWire {
  readonly id: string;
  readonly device: string;
  readonly at_ms: number;
  readonly kind: "swap" | "load" | "preload" | "unload";
  readonly reason: string;
  /** The ceiling spoke. */
  readonly forced: boolean;
  readonly load: string | null;
  readonly evict: readonly string[];
  readonly sentence: string;
}

/** `GET /v1/timeline?from_ms=&to_ms=&px=&device=`: spans narrower than a pixel are merged; 2,000 at most. */
export interface TimelineWire {
  readonly object: "timeline";
  readonly from_ms: number;
  readonly to_ms: number;
  readonly spans: readonly SpanRow[];
  readonly moves: readonly MoveWire[];
  readonly pauses: readonly PauseRow[];
  readonly downtimes: readonly (readonly [from_ms: number, to_ms: number])[];
}

/** `GET /v1/series?name=queue_depth&from_ms=&to_ms=&step_ms=`: columns, as a chart wants them. */
export interface SeriesWire {
  readonly object: "series";
  readonly name: "queue_depth";
  readonly step_ms: number;
  readonly at_ms: readonly number[];
  readonly interactive: readonly number[];
  readonly normal: readonly number[];
  readonly batch: readonly number[];
}

/** A row of the jobs' list: its receipt, and where its time went so far. */
export interface JobRow extends Receipt {
  readonly band: "interactive" | "normal" | "batch";
  /** Null where the asker may not know it. */
  readonly caller: string | null;
  readonly wait_ms: number;
  readonly run_ms: number;
  /** The cause that took most of the wait; null: it did not wait. */
  readonly cause: string | null;
  /** By cause, in order of first appearance; sums to wait and run together. */
  readonly parts: readonly Pick<PartWire, "cause" | "ms">[];
}

/** `GET /v1/jobs?view=rows`. */
export interface JobRowList extends List<JobRow> {
  /** Rows were looked at back to this instant and the budget ended; null: all that match are here or behind `after`. */
  readonly scanned_to_ms: number | null;
}

/** What became of one job of `POST /v1/jobs/cancel`, which takes up to a hundred ids. */
export interface CancelOutcomeWire {
  /** As it was given. */
  readonly id: string;
  /** `not_found` also where the asker may not know of it; `not_allowed` where it may see it and no more. */
  readonly outcome: "cancelled" | "already_over" | "not_found" | "not_allowed";
  /** As it is now; null where it was not found. */
  readonly status: WireStatus | null;
}

export type CancelList = List<CancelOutcomeWire>;

/** Events of `GET /v1/stream`: first `snapshot`, then `delta`; `bye` when the router goes down. Ids are `<boot>.<seq>`. */
export type StreamEvent =
  | { readonly event: "snapshot"; readonly data: StatusWire }
  | { readonly event: "delta"; readonly data: DeltaWire }
  | { readonly event: "bye"; readonly data: Record<string, never> };

/** What changed since the frame before. Lists hold whole entries, to be put in place by their ids. */
export interface DeltaWire {
  readonly seq: number;
  /** Unix seconds, the server's clock. */
  readonly at: number;
  readonly status: Pick<StatusWire, "queued" | "running" | "paused" | "pause" | "draining" | "totals">;
  readonly devices: readonly DeviceStatusWire[];
  readonly models: readonly ModelStatusWire[];
  /** Jobs that changed, at most 200; only those the asker may see. */
  readonly jobs: readonly LiveJobWire[];
  /** How many more changed. */
  readonly more: number;
  readonly spans: readonly SpanRow[];
  readonly moves: readonly MoveWire[];
  /** New decisions, moves and stays, oldest first; at most 50. */
  readonly decisions: readonly DecisionWire[];
}

/** A job that changed, as far as a row that is shown needs it. */
export interface LiveJobWire
  extends Pick<Receipt, "id" | "status" | "model" | "created_at" | "started_at" | "completed_at">,
    Pick<JobRow, "band" | "caller"> {
  /** Where its time went, as in its row of the list; null while it is live, and where that was not kept. */
  readonly parts: readonly (readonly [cause: PartWire["cause"], ms: number])[] | null;
}

/** `POST /v1/replays`: recorded traffic under other settings, on a thread of its own, one at a time. */
export interface ReplayRequestWire {
  readonly from_ms: number;
  readonly to_ms: number;
  readonly policy?: string;
  /** Settings of the scheduler by their configuration names, e.g. `{"maxWaitSeconds": 600}`. */
  readonly set: Readonly<Record<string, unknown>>;
}

export interface ReplayWire {
  readonly id: string;
  readonly object: "replay";
  readonly status: "running" | "completed" | "failed" | "cancelled";
  readonly from_ms: number;
  readonly to_ms: number;
  readonly policy: string | null;
  readonly set: Readonly<Record<string, unknown>>;
  /** 0 to 1. */
  readonly progress: number;
  readonly error: string | null;
  /** The very document of `sir replay --json`; null until it is completed. */
  readonly report: Readonly<Record<string, unknown>> | null;
  /** Both runs as spans, for two charts on one axis; null until it is completed. */
  readonly recorded_spans: readonly SpanRow[] | null;
  /** Of the other settings; null also where the settings that ran were asked for and nothing else. */
  readonly other_spans: readonly SpanRow[] | null;
  /** Null until it is completed. */
  readonly waits: WaitDistributionWire | null;
}

/** Which share of the jobs had started after so long; ascending, as columns. */
export interface WaitDistributionWire {
  readonly seconds: readonly number[];
  /** With the settings that ran, replayed, so that both sides end alike. 0 to 1. */
  readonly before: readonly number[];
  /** Null: no others were tried. */
  readonly after: readonly number[] | null;
}

/** `GET /v1/replays`: what can be replayed, and what can be tried. */
export interface ReplayChoicesWire {
  readonly object: "replay.choices";
  /** When the first and the last recorded job were accepted; null: none was. */
  readonly span: { readonly from_ms: number; readonly to_ms: number } | null;
  /** In force now. */
  readonly policy: string;
  readonly settings: Readonly<Record<string, unknown>>;
  readonly policies: Readonly<Record<string, readonly ReplaySettingWire[]>>;
  /** Those that are kept, newest first, without their results. */
  readonly replays: readonly Pick<ReplayWire, "id" | "status" | "from_ms" | "to_ms" | "policy" | "set">[];
}

export interface ReplaySettingWire {
  readonly key: string;
  readonly unit: string;
  /** A sentence. */
  readonly description: string;
  /** What the policy does without it. */
  readonly default: unknown;
  /** JSON Schema of its values. */
  readonly schema: Readonly<Record<string, unknown>>;
}
