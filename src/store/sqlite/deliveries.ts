// The outbox of webhooks. An event is noted in the transaction of what it tells: neither is there without the other.

import type { Database } from "better-sqlite3";
import type { Delivery, DeliveryVerbs, Subscription } from "../delivery-verbs.ts";
import type { Result } from "../store.ts";
import { STATUSES, type Stamp } from "./job-row.ts";
import type { Outbox } from "./outbox.ts";
import { PURGE_BATCH } from "./purger.ts";
import { responseEnd } from "./response-end.ts";
import type { JobRow } from "./schema.ts";

/** Longer than the last attempt of any delivery: what is older belongs to an endpoint that is configured no more. */
const KEEP_MS = 5 * 86_400_000;
/** Whatever their age, the newest so many. */
const MOST = 200_000;
const BACKGROUND = 2;

const INSERT = `
  INSERT INTO deliveries (endpoint, event, type, subject, created_wall_ms, created_ms, due_ms)
  VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`;
export const NEXT_DELIVERIES = `
  SELECT seq, event, type, subject, created_wall_ms, attempts, due_ms FROM deliveries INDEXED BY deliveries_due
  WHERE endpoint = ? ORDER BY due_ms, seq LIMIT ?`;
export const PENDING = "SELECT count(*) FROM deliveries INDEXED BY deliveries_due WHERE endpoint = ?";
const OLD = `
  DELETE FROM deliveries WHERE seq IN
    (SELECT seq FROM deliveries INDEXED BY deliveries_by_time WHERE created_ms <= ? LIMIT ?)`;
const EXCESS = `
  DELETE FROM deliveries WHERE seq IN
    (SELECT seq FROM deliveries WHERE seq <= (SELECT max(seq) FROM deliveries) - ${MOST} LIMIT ?)`;

interface DeliveryRow {
  seq: number;
  event: string;
  type: string;
  subject: string;
  created_wall_ms: number;
  attempts: number;
  due_ms: number;
}

export interface Delivering {
  deliveryDone(at: Stamp, seq: number): void;
  deliveryAgain(at: Stamp, seq: number, dueMs: number): void;
  deliveriesDropped(at: Stamp, endpoint: string): void;
}

/** What other verbs of the same transaction tell. */
export interface Announcer {
  /** @param event The webhook's id, without a full stop. */
  announce(at: Stamp, type: string, event: string, subject: string): void;
  /** A job that became final. */
  jobEnded(at: Stamp, row: JobRow, result: Result | null): void;
  /** Removes what nobody will take any more; returns how many. */
  sweep(at: Stamp): number;
}

export function createDelivering(
  db: Database,
  subscriptions: readonly Subscription[],
): { readonly verbs: Delivering; readonly announcer: Announcer } {
  const insert = db.prepare(INSERT);
  const remove = db.prepare("DELETE FROM deliveries WHERE seq = ?");
  const again = db.prepare("UPDATE deliveries SET attempts = attempts + 1, due_ms = ? WHERE seq = ?");
  const drop = db.prepare("DELETE FROM deliveries WHERE endpoint = ?");
  const old = db.prepare(OLD);
  const excess = db.prepare(EXCESS);

  const announce: Announcer["announce"] = (at, type, event, subject) => {
    for (const { endpoint, events } of subscriptions) {
      if (!wants(events, type)) continue;
      insert.run(endpoint, event, type, subject, Math.floor(at.wallMs), at.atMs, at.atMs);
    }
  };
  const announcer: Announcer = {
    announce,
    jobEnded(at, row, result) {
      // A synchronous caller has its answer, and a batch speaks for its lines.
      if (subscriptions.length === 0 || row.durable === 0 || row.batch !== null) return;
      const hex = row.id.slice("job_".length);
      const status = STATUSES[row.status] ?? "failed";
      const word = status === "succeeded" ? "completed" : status;
      announce(at, `job.${word}`, `evt_${hex}_job`, row.id);
      if (row.origin !== BACKGROUND) return;
      const succeeded = status === "succeeded" && result !== null;
      const end = succeeded ? responseEnd(result) : word === "expired" ? "failed" : word;
      announce(at, `response.${end}`, `evt_${hex}`, `resp_${hex}`);
    },
    sweep: (at) => Math.max(old.run(at.atMs - KEEP_MS, PURGE_BATCH).changes, excess.run(PURGE_BATCH).changes),
  };
  const verbs: Delivering = {
    deliveryDone: (_at, seq) => void remove.run(seq),
    deliveryAgain: (_at, seq, dueMs) => void again.run(dueMs, seq),
    deliveriesDropped: (_at, endpoint) => void drop.run(endpoint),
  };
  return { verbs, announcer };
}

function wants(events: readonly string[], type: string): boolean {
  return events.some(
    (each) => each === "*" || each === type || (each.endsWith(".*") && type.startsWith(each.slice(0, -1))),
  );
}

export function createDeliveryVerbs(
  db: Database,
  outbox: Outbox,
  read: <Value>(act: () => Value) => Promise<Value>,
): DeliveryVerbs {
  const next = db.prepare<[string, number], DeliveryRow>(NEXT_DELIVERIES);
  const pending = db.prepare<[string], number>(PENDING).pluck();
  return {
    next: (endpoint, limit) => read(() => next.all(endpoint, limit).map(toDelivery)),
    done: (seq) => outbox.call("deliveryDone", [seq]),
    retry: (seq, dueMs) => outbox.call("deliveryAgain", [seq, dueMs]),
    drop: (endpoint) => outbox.call("deliveriesDropped", [endpoint]),
    pending: (endpoint) => read(() => pending.get(endpoint) ?? 0),
  };
}

function toDelivery(row: DeliveryRow): Delivery {
  const { seq, event, type, subject, attempts } = row;
  return { seq, event, type, subject, attempts, createdAtMs: row.created_wall_ms, dueMs: row.due_ms };
}
