// Reading bodies and answers. Small ones in place; a caller that must not block asks for their size first.

import type { Database } from "better-sqlite3";
import type { JobId } from "../../domain/ids.ts";
import type { Body, Result } from "../store.ts";

/** Larger values are read by the writer's thread, so that reading one does not hold up every other caller. */
export const LARGE_BYTES = 262_144;

const BODY = `
  SELECT b.content_type, b.size, b.sha256, b.headers, b.span_start, b.span_end, b.location,
    CASE WHEN b.size <= @limitBytes THEN b.bytes END AS bytes
  FROM bodies AS b WHERE b.job = (SELECT seq FROM jobs WHERE id = @id)`;
const RESULT = `
  SELECT r.status, r.headers, r.size, CASE WHEN r.size <= @limitBytes THEN r.bytes END AS bytes
  FROM results AS r WHERE r.job = (SELECT seq FROM jobs WHERE id = @id)`;

interface Wanted {
  id: string;
  limitBytes: number;
}
interface BodyRow {
  content_type: string;
  size: number;
  sha256: Buffer;
  headers: string;
  span_start: number | null;
  span_end: number | null;
  location: string | null;
  bytes: Buffer | null;
}
interface ResultRow {
  status: number;
  headers: string;
  size: number;
  bytes: Buffer | null;
}

export interface Contents {
  /** "large": it is there, and larger than `limitBytes`. */
  body(id: JobId, limitBytes: number): Body | null | "large";
  result(id: JobId, limitBytes: number): Result | null | "large";
}

export function createContents(db: Database): Contents {
  const body = db.prepare<[Wanted], BodyRow>(BODY);
  const result = db.prepare<[Wanted], ResultRow>(RESULT);
  return {
    body(id, limitBytes) {
      const row = body.get({ id, limitBytes });
      if (row === undefined) return null;
      if (row.location === null && row.bytes === null) return "large";
      return toBody(row);
    },
    result(id, limitBytes) {
      const row = result.get({ id, limitBytes });
      if (row === undefined) return null;
      if (row.bytes === null) return "large";
      return { status: row.status, headers: JSON.parse(row.headers) as Record<string, string>, body: row.bytes };
    },
  };
}

function toBody(row: BodyRow): Body {
  const span = row.span_start === null || row.span_end === null ? null : ([row.span_start, row.span_end] as const);
  return {
    contentType: row.content_type,
    sizeBytes: row.size,
    sha256: row.sha256,
    headers: JSON.parse(row.headers) as Record<string, string>,
    modelSpan: span,
    source:
      row.location === null
        ? { kind: "bytes", bytes: row.bytes ?? new Uint8Array() }
        : { kind: "file", uri: row.location },
  };
}
