// The tables as drizzle sees them: types of rows, and lists for people. The truth is migrations/sqlite/*.sql, because
// STRICT, CHECK and partial indexes are written by hand. Keys are the column names, so that rows of raw prepared
// statements have the same types.

import { blob, integer, real, sqliteTable, text } from "drizzle-orm/sqlite-core";

export const jobs = sqliteTable("jobs", {
  seq: integer().primaryKey(),
  id: text().notNull(),
  pool: text().notNull(),
  caller: text().notNull(),
  model: text().notNull(),
  endpoint: text().notNull(),
  status: integer().notNull(),
  priority: integer().notNull(),
  rank: real().notNull(),
  stream: integer().notNull(),
  durable: integer().notNull(),
  created_wall_ms: integer().notNull(),
  accepted_ms: real().notNull(),
  lease_ms: real(),
  deadline_ms: real(),
  last_poll_ms: real().notNull(),
  epoch: integer().notNull(),
  attempts: integer().notNull(),
  interruptions: integer().notNull(),
  run_after_ms: real().notNull(),
  home: text().notNull(),
  owner: text(),
  instance: text(),
  started_ms: real(),
  finished_ms: real(),
  cancel_reason: text(),
  error_code: text(),
  error_message: text(),
  decision: text(),
  score: real(),
  queue_wait_ms: real(),
  reorder: text(),
  traceparent: text(),
  client_request_id: text(),
  metadata: text().notNull(),
  idempotency_key: text(),
  fingerprint: blob({ mode: "buffer" }),
  read_ms: real(),
  purged_ms: real(),
  purge_after_ms: real(),
  evictable_ms: real(),
  origin: integer().notNull(),
  repeat: blob({ mode: "buffer" }),
  batch: integer(),
  wait_ms: integer(),
  run_ms: integer(),
  top_cause: text(),
  parts: text(),
});
export type JobRow = typeof jobs.$inferSelect;

export const attempts = sqliteTable("attempts", {
  job: integer().notNull(),
  epoch: integer().notNull(),
  attempt: integer().notNull(),
  instance: text().notNull(),
  owner: text().notNull(),
  started_ms: real().notNull(),
  first_byte_ms: real(),
  ended_ms: real(),
  outcome: text(),
  detail: text(),
  run_after_ms: real(),
});
export type AttemptRow = typeof attempts.$inferSelect;

export const waits = sqliteTable("waits", {
  seq: integer().primaryKey(),
  model: text().notNull(),
  cause: text().notNull(),
  rule: text(),
  by_model: text(),
  device: text(),
  decision: text(),
  from_ms: real().notNull(),
  to_ms: real(),
  detail: text(),
});
export type WaitRow = typeof waits.$inferSelect;

export const loads = sqliteTable("loads", {
  seq: integer().primaryKey(),
  instance: text().notNull(),
  model: text().notNull(),
  device: text().notNull(),
  decision: text(),
  started_ms: real().notNull(),
  ended_ms: real().notNull(),
  outcome: text().notNull(),
  tier: text(),
  detail: text(),
});
export type LoadRow = typeof loads.$inferSelect;

export const decisions = sqliteTable("decisions", {
  seq: integer().primaryKey(),
  id: text().notNull(),
  at_ms: real().notNull(),
  pool: text().notNull(),
  kind: text().notNull(),
  reason: text().notNull(),
  device: text().notNull(),
  detail: text().notNull(),
  times: integer().notNull(),
  last_ms: real(),
  trail: text(),
});
export type DecisionRow = Pick<typeof decisions.$inferSelect, "detail" | "times" | "last_ms" | "trail">;
