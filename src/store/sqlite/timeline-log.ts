// Writes what devices did and what minutes were, on the commits of what they tell of.

import type { Database } from "better-sqlite3";
import { BANDS } from "../../domain/band.ts";
import type { Grain, Span } from "../../domain/change.ts";
import type { Minute } from "../../domain/minute.ts";

const INSERT_SPAN = `
  INSERT INTO spans (grain, device, model, phase, from_ms, to_ms, decision)
  VALUES (@grain, @device, @model, @phase, @fromMs, @toMs, @decision)`;
export const END_SPAN = `
  UPDATE spans INDEXED BY spans_open SET to_ms = max(from_ms, @toMs), phase = @phase
  WHERE grain = @grain AND device = @device AND model = @model AND to_ms IS NULL AND from_ms = @fromMs`;
/** What ended in the moment it began was none. */
export const FORGET_SPAN = `
  DELETE FROM spans WHERE seq IN (SELECT seq FROM spans INDEXED BY spans_open
  WHERE grain = @grain AND device = @device AND model = @model AND to_ms IS NULL AND from_ms = @fromMs)`;
/** One stretch of a lane at a time: what a lost entry left open ends where the next begins. */
export const END_OPEN = `
  UPDATE spans INDEXED BY spans_open SET to_ms = max(from_ms, @fromMs)
  WHERE grain = @grain AND device = @device AND model = @model AND to_ms IS NULL`;
const INSERT_LANE = "INSERT INTO lanes (device, model) VALUES (@device, @model) ON CONFLICT DO NOTHING";
const INSERT_MINUTE = `
  INSERT INTO minutes (model, at_ms, band, queued_max, started, finished, failed, wait_ms, run_ms)
  VALUES (@model, @atMs, @band, @queuedMax, @started, @finished, @failed, @waitMs, @runMs)
  ON CONFLICT DO UPDATE SET queued_max = max(queued_max, excluded.queued_max), started = started + excluded.started,
    finished = finished + excluded.finished, failed = failed + excluded.failed,
    wait_ms = wait_ms + excluded.wait_ms, run_ms = run_ms + excluded.run_ms`;

export const GRAINS: readonly Grain[] = ["fine", "coarse"];

export interface TimelineLog {
  span(grain: Grain, span: Span): void;
  minutes(minutes: readonly Minute[]): void;
}

export function createTimelineLog(db: Database): TimelineLog {
  const insertSpan = db.prepare(INSERT_SPAN);
  const endSpan = db.prepare(END_SPAN);
  const forgetSpan = db.prepare(FORGET_SPAN);
  const endOpen = db.prepare(END_OPEN);
  const insertLane = db.prepare(INSERT_LANE);
  const insertMinute = db.prepare(INSERT_MINUTE);
  return {
    span(name, { device, model, phase, fromMs, toMs, decision }) {
      const row = { grain: GRAINS.indexOf(name), device, model, phase, fromMs, toMs, decision };
      const lane = { grain: row.grain, device, model };
      if (toMs !== null && toMs <= fromMs) {
        forgetSpan.run({ ...lane, fromMs });
        return;
      }
      if (toMs !== null && endSpan.run({ ...lane, fromMs, toMs, phase }).changes > 0) return;
      endOpen.run({ ...lane, fromMs });
      insertSpan.run(row);
      insertLane.run({ device, model });
    },
    minutes(minutes) {
      for (const { model, band, ...counts } of minutes) {
        insertMinute.run({ ...counts, model: model ?? "", band: BANDS.indexOf(band) });
      }
    },
  };
}
