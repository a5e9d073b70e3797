// What came of a decision, read from the timeline around it. Pure.

import type { DecisionWire } from "../../../src/client/wire.ts";
import type { MoveWire, TimelineWire } from "../../../src/client/wire-live.ts";

const BEFORE_MS = 240_000;
const AFTER_MS = 480_000;
/** A stay that lasted longer is shown with so much of its length around it. */
const MARGIN = 0.2;

/** The stretch that is drawn: some minutes around a move, a stay whole. */
export function windowOf({ at, last_at }: Pick<DecisionWire, "at" | "last_at">): { fromMs: number; toMs: number } {
  const [atMs, lastMs] = [at * 1000, last_at * 1000];
  const margin = (lastMs - atMs) * MARGIN;
  return {
    fromMs: Math.floor(atMs - Math.max(BEFORE_MS, margin)),
    toMs: Math.ceil(lastMs + Math.max(AFTER_MS, margin)),
  };
}

export interface Followed {
  /** Null: it has not ended within what is shown. */
  readonly loadMs: number | null;
  readonly failed: boolean;
  /** The decision that took the model out again; null: none within what is shown. */
  readonly endedBy: MoveWire | null;
}

export function followed({ id, load, device, at }: DecisionWire, { spans, moves }: TimelineWire): Followed {
  const own = spans.find(
    ([on, model, phase, fromMs, , decision]) =>
      on === device && model === load && isLoad(phase) && (decision === id || fromMs >= at * 1000 - 1),
  );
  const endedBy = moves
    .filter((move) => move.device === device && move.at_ms > at * 1000 && load !== null && move.evict.includes(load))
    .sort((a, b) => a.at_ms - b.at_ms)[0];
  const [, , phase, fromMs = 0, toMs = null] = own ?? [];
  return { loadMs: toMs === null ? null : toMs - fromMs, failed: phase === "failed", endedBy: endedBy ?? null };
}

const isLoad = (phase: string): boolean => phase === "loading" || phase === "failed";
