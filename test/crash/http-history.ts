// What callers saw, and what it obliges the router to: the checker reads the database of a router that has ended and
// says which promise was broken. It is pure, so that a planted loss can be shown to be noticed.

import type { Database } from "better-sqlite3";

export interface Seen {
  readonly model: string;
  readonly maxTokens: number;
  readonly key: string | null;
}

export interface History {
  /** Every id that came in a 202, or in the answer to a request with a key. */
  readonly accepted: Map<string, Seen>;
  /** Every key that was sent, with its body; the id once some answer named it. */
  readonly keys: Map<string, { readonly body: string; id: string | null }>;
  /** Final statuses that were read, by id. */
  readonly finals: Map<string, string>;
  /** Bytes of results that were read, by id. */
  readonly results: Map<string, string>;
  /** Contradictions that were seen on the wire. */
  readonly violations: string[];
}

export function emptyHistory(): History {
  return { accepted: new Map(), keys: new Map(), finals: new Map(), results: new Map(), violations: [] };
}

const FINAL = new Set(["completed", "failed", "cancelled", "expired"]);

/** A final status never changes. */
export function sawStatus(history: History, id: string, status: string): void {
  const before = history.finals.get(id);
  if (before !== undefined && before !== status) history.violations.push(`${id} was ${before} and is ${status}`);
  if (FINAL.has(status)) history.finals.set(id, status);
}

/** An answer is the same at each reading, before and after a crash. */
export function sawResult(history: History, id: string, bytes: Buffer): void {
  const hex = bytes.toString("hex");
  const before = history.results.get(id);
  if (before !== undefined && before !== hex) history.violations.push(`${id} gave two different answers`);
  history.results.set(id, hex);
}

/** One key is one job. */
export function sawKey(history: History, key: string, id: string): void {
  const entry = history.keys.get(key);
  if (entry === undefined) return;
  if (entry.id !== null && entry.id !== id) history.violations.push(`key ${key} meant ${entry.id} and means ${id}`);
  entry.id = id;
}

interface Row {
  readonly seq: number;
  readonly status: number;
  readonly model: string;
  readonly durable: number;
  readonly succeeded: number;
  readonly open: number;
  readonly ends: number;
  readonly result: Buffer | null;
}

const ROW = `
  SELECT seq, status, model, durable,
    (SELECT count(*) FROM attempts WHERE job = seq AND outcome = 'succeeded') AS succeeded,
    (SELECT count(*) FROM attempts WHERE job = seq AND ended_ms IS NULL) AS open,
    (SELECT count(*) FROM job_events
      WHERE job = seq AND type IN ('completed', 'succeeded', 'failed', 'cancelled', 'expired')) AS ends,
    (SELECT bytes FROM results WHERE job = seq) AS result
  FROM jobs WHERE id = ?`;

const WIRE = ["queued", "in_progress", "completed", "failed", "cancelled", "expired"];

/** What is wrong once everything had the time to finish; empty when every promise was kept. */
export function brokenPromises(database: Database, history: History): string[] {
  const problems = [...history.violations];
  const integrity = database.pragma("integrity_check", { simple: true });
  if (integrity !== "ok") problems.push(`the database is damaged: ${String(integrity)}`);
  const read = database.prepare<[string], Row>(ROW);
  for (const [id, seen] of history.accepted) {
    const row = read.get(id);
    if (row === undefined) problems.push(`${id} was accepted and is gone`);
    else problems.push(...problemsOf(id, seen, row, history));
  }
  const twice = database
    .prepare(
      "SELECT count(*) FROM (SELECT 1 FROM attempts WHERE outcome = 'succeeded' GROUP BY job HAVING count(*) > 1)",
    )
    .pluck()
    .get();
  if (twice !== 0) problems.push(`${String(twice)} jobs succeeded twice`);
  return problems;
}

function problemsOf(id: string, seen: Seen, row: Row, history: History): string[] {
  const problems: string[] = [];
  const status = WIRE[row.status] ?? "unknown";
  const say = (what: string): void => void problems.push(`${id} (${status}) ${what}`);
  if (row.status < 2) say("never finished");
  if (row.open > 0) say(`has ${row.open} attempts without an end`);
  if (row.status >= 2 && row.ends !== 1) say(`ended ${row.ends} times`);
  if (row.model !== seen.model) say(`is of ${row.model}, was sent to ${seen.model}`);
  if (row.status === 2 && row.succeeded !== 1) say(`has ${row.succeeded} attempts that succeeded`);
  if (row.status !== 2 && row.succeeded !== 0) say("has an attempt that succeeded");
  if (row.status === 2) {
    if (row.result === null) say("has no answer");
    else if (!answers(row.result, seen)) say("has the answer to another request");
  }
  const told = history.finals.get(id);
  if (told !== undefined && told !== status) say(`was said to be ${told}`);
  const bytes = history.results.get(id);
  if (row.status === 2 && bytes !== undefined && bytes !== row.result?.toString("hex")) say("changed its answer");
  return problems;
}

/** The mock engine's answers name their model and are as long as was asked. */
function answers(result: Buffer, { model, maxTokens }: Seen): boolean {
  const { model: named, usage } = JSON.parse(result.toString()) as {
    model: string;
    usage: { completion_tokens: number };
  };
  return named === model && usage.completion_tokens === maxTokens;
}
