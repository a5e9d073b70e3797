// Reads what devices did and how long queues were. A window is read lane by lane, so that only its own rows are touched
// however long the past is.

import type { Database } from "better-sqlite3";
import { BANDS, type Band } from "../../domain/band.ts";
import type { Span, SpanPhase } from "../../domain/change.ts";
import type { Decision } from "../../domain/decision.ts";
import type { DecisionId, DeviceId, ModelName } from "../../domain/ids.ts";
import type { TimelineVerbs, Window } from "../timeline-verbs.ts";
import { GRAINS } from "./timeline-log.ts";

const LANES = "SELECT device, model FROM lanes";
const IN_LANE = "spans INDEXED BY spans_of_lane WHERE grain = @grain AND device = @device AND model = @model";
/** Newest first, so that a limit leaves out the oldest; the last one before the window reaches into it, or not. */
export const SPANS = `
  SELECT phase, from_ms, to_ms, decision FROM ${IN_LANE} AND from_ms < @toMs
    AND from_ms >= coalesce((SELECT max(from_ms) FROM ${IN_LANE} AND from_ms <= @fromMs), @fromMs)
  ORDER BY from_ms DESC LIMIT @limit`;
export const MOVE_TIMES = `
  SELECT seq, at_ms, device FROM decisions INDEXED BY decisions_moves
  WHERE kind NOT IN ('hold', 'idle') AND at_ms >= @fromMs AND at_ms < @toMs ORDER BY at_ms DESC LIMIT @limit`;
export const MINUTES = `
  SELECT at_ms, band, queued_max, started, finished, failed, wait_ms, run_ms FROM minutes
  WHERE model = '' AND at_ms >= @fromMs AND at_ms < @toMs ORDER BY at_ms, band`;
const DETAIL = "SELECT detail FROM decisions WHERE seq = ?";
/** Most moves of one window that are looked at; the oldest beyond them are not shown. */
const MOVES_SEEN = 20_000;

type SpanTuple = [phase: string, fromMs: number, toMs: number | null, decision: string | null];
type MoveTuple = [seq: number, atMs: number, device: string];
type MinuteTuple = [number, number, number, number, number, number, number, number];

export function createTimeline(db: Database, read: <T>(act: () => T) => Promise<T>): TimelineVerbs {
  const lanes = db.prepare<[], { device: string; model: string }>(LANES);
  const spans = db.prepare<[object], SpanTuple>(SPANS).raw();
  const times = db.prepare<[object], MoveTuple>(MOVE_TIMES).raw();
  const minutes = db.prepare<[object], MinuteTuple>(MINUTES).raw();
  const detail = db.prepare<[number], string>(DETAIL).pluck();

  return {
    spans: ({ fromMs, toMs, device: wanted }, grain, perLane) =>
      read(() => {
        const found: Span[] = [];
        let cut = false;
        for (const lane of lanes.all()) {
          if (wanted !== undefined && lane.device !== wanted) continue;
          const rows = spans.all({ ...lane, grain: GRAINS.indexOf(grain), fromMs, toMs, limit: perLane });
          cut ||= rows.length === perLane;
          for (const [phase, from, to, decision] of rows.reverse()) {
            if (to !== null && to <= fromMs) continue;
            found.push({
              device: lane.device as DeviceId,
              model: lane.model as ModelName,
              phase: phase as SpanPhase,
              fromMs: from,
              toMs: to,
              decision: decision as DecisionId | null,
            });
          }
        }
        return { spans: found, cut };
      }),
    moves: (window, everyMs, limit) =>
      read(() => {
        const seqs = spaced(
          times.all({ fromMs: window.fromMs, toMs: window.toMs, limit: MOVES_SEEN }),
          window,
          everyMs,
        );
        const details = seqs.slice(0, limit).map((seq) => detail.get(seq));
        return details.flatMap((text) => (text === undefined ? [] : [JSON.parse(text) as Decision])).reverse();
      }),
    minutes: (fromMs, toMs) =>
      read(() =>
        minutes.all({ fromMs, toMs }).map(([atMs, band, queuedMax, started, finished, failed, waitMs, runMs]) => ({
          ...{ atMs, model: null, band: BANDS[band] as Band, queuedMax, started, finished, failed, waitMs, runMs },
        })),
      ),
  };
}

/** Newest first: of those of a device that lie closer together, the last. */
function spaced(moves: readonly MoveTuple[], { device: wanted }: Window, everyMs: number): number[] {
  const kept: number[] = [];
  const lastAt = new Map<string, number>();
  for (const [seq, atMs, device] of moves) {
    if (wanted !== undefined && device !== wanted) continue;
    if (atMs > (lastAt.get(device) ?? Number.POSITIVE_INFINITY) - everyMs) continue;
    lastAt.set(device, atMs);
    kept.push(seq);
  }
  return kept;
}
