// What devices did and how long queues were, over time: for charts. Instants are router time in ms; ranges include their
// start and exclude their end. Every read is bounded and goes along an index.

import type { Grain, Span } from "../domain/change.ts";
import type { Decision } from "../domain/decision.ts";
import type { DeviceId } from "../domain/ids.ts";
import type { Minute } from "../domain/minute.ts";

export interface Window {
  readonly fromMs: number;
  readonly toMs: number;
  /** Absent: all devices. */
  readonly device?: DeviceId;
}

export interface SpanPage {
  /** By lane, oldest first in each; what reaches into the window is whole. */
  readonly spans: readonly Span[];
  /** A lane has more than the limit: its oldest are left out. */
  readonly cut: boolean;
}

export interface TimelineVerbs {
  /** @param perLane Most of one model on one device. */
  spans(window: Window, grain: Grain, perLane: number): Promise<SpanPage>;
  /**
   * Decisions that moved something, oldest first: where several of a device lie within `everyMs`, the last of them; at most
   * `limit`, the newest.
   */
  moves(window: Window, everyMs: number, limit: number): Promise<readonly Decision[]>;
  /** Of all models together, oldest first. */
  minutes(fromMs: number, toMs: number): Promise<readonly Minute[]>;
}
