// Jobs as rows, and one job in words.

import type { QueueWire, Receipt, WireStatus } from "../client/wire.ts";
import type { JobRow } from "../client/wire-live.ts";
import { bandOf } from "../domain/band.ts";
import { percent } from "../scheduler/wording.ts";
import type { Io } from "./command.ts";
import { instantText, timeText } from "./instant.ts";
import { span } from "./quantity.ts";
import { type Column, NONE } from "./table.ts";
import { harmless } from "./width.ts";

export const STATUSES: readonly WireStatus[] = ["queued", "in_progress", "completed", "failed", "cancelled", "expired"];

export const JOB_COLUMNS: readonly Column[] = [
  { title: "JOB", ids: true, least: 13 },
  { title: "MODEL", least: 12 },
  { title: "BAND", drop: 5 },
  { title: "STATUS" },
  { title: "WAITED", right: true },
  { title: "RAN", right: true, drop: 4 },
  { title: "PLACE", right: true, sparse: true, drop: 2 },
  { title: "STARTS", sparse: true, drop: 1 },
  { title: "MOSTLY", sparse: true },
  { title: "CALLER", least: 8, sparse: true, drop: 3 },
];

export function jobRow(row: JobRow, io: Io): string[] {
  const { id, model, status, queue, wait_ms, run_ms, cause, caller } = row;
  const place = queue?.position ?? null;
  const mine = caller === null || caller === "local" ? NONE : caller;
  return [
    id,
    model,
    row.band ?? bandOf(row.priority),
    status,
    span(wait_ms),
    row.started_at === null ? NONE : span(run_ms),
    place === null ? NONE : String(place + 1),
    shortStart(row, io),
    mostly(row) ?? cause ?? NONE,
    io.screen.out ? mine : (caller ?? NONE),
  ];
}

/** When it is expected to start, and within what; where nothing is estimated, the bound. */
export function startText({ queue }: Pick<Receipt, "queue">, io: Io): string {
  const { start, bound, at } = startOf(queue, io);
  if (start !== null) return `${at(start.mid_seconds)} (${at(start.low_seconds)} to ${at(start.high_seconds)})`;
  return bound === null ? NONE : `by ${at(bound)}`;
}

/** The same for a column: `21:50 ±8m`. */
function shortStart({ queue }: Pick<Receipt, "queue">, io: Io): string {
  const { start, bound, at } = startOf(queue, io);
  if (start === null) return bound === null ? NONE : `by ${at(bound)}`;
  const off = Math.max(start.mid_seconds - start.low_seconds, start.high_seconds - start.mid_seconds);
  return `${at(start.mid_seconds)} ±${off < 60 ? `${Math.ceil(off)}s` : `${Math.ceil(off / 60)}m`}`;
}

function startOf(queue: QueueWire | null, io: Io) {
  const asOf = queue?.as_of ?? 0;
  const at = (seconds: number): string => timeText((asOf + seconds) * 1_000, io.zone).slice(0, 5);
  return { start: queue?.start ?? null, bound: queue?.dispatch_within_seconds ?? null, at };
}

/** The cause that took most of the wait, with its share of it. */
function mostly({ cause, parts, wait_ms }: JobRow): string | null {
  if (cause === null || wait_ms <= 0) return null;
  const ms = parts.filter((part) => part.cause === cause).reduce((all, part) => all + part.ms, 0);
  const name = cause.replaceAll("_", " ");
  return ms === 0 ? name : `${name} ${percent(Math.min(1, ms / wait_ms))}`;
}

/** One job in lines of a name and a value. */
export function receiptLines(receipt: Receipt, io: Io): string[] {
  const { id, status, model, endpoint, priority, attempts, queue, lease, error, metadata } = receipt;
  const when = (at: number | null): string | null => (at === null ? null : instantText(at * 1_000, io.zone));
  const rows: [string, string | null][] = [
    ["job", id],
    ["status", status],
    ["model", model],
    ["endpoint", endpoint],
    ["priority", `${priority} (${bandOf(priority)})`],
    ["accepted", when(receipt.created_at)],
    ["started", when(receipt.started_at)],
    ["ended", when(receipt.completed_at)],
    ["attempts", attempts > 1 ? String(attempts) : null],
    ["place", queue === null || queue.position === null ? null : String(queue.position + 1)],
    ["starts", queue === null ? null : startText(receipt, io).replace(/^-$/, "") || null],
    ["answer kept until", when(receipt.expires_at)],
    ["polled until", lease === null ? null : when(lease.expires_at)],
    ["error", error === null ? null : `${error.code}: ${error.message}`],
    ...Object.entries(metadata).map(([key, value]): [string, string] => [`metadata ${key}`, value]),
  ];
  const said = rows.filter((row): row is [string, string] => row[1] !== null);
  const width = Math.max(...said.map(([name]) => name.length)) + 2;
  return said.map(([name, value]) =>
    io.screen.out ? harmless(name).padEnd(width) + harmless(value) : `${harmless(name)}\t${harmless(value)}`,
  );
}
