// What must be true of a database after a crash, whatever was acknowledged before it.

import { createHash } from "node:crypto";
import Database from "better-sqlite3";

export interface Verdict {
  /** Acknowledged, and not there. */
  readonly lost: number;
  readonly problems: readonly string[];
}

interface Row {
  id: string;
  status: number;
  body: Buffer | null;
  sha256: Buffer | null;
  result: Buffer | null;
}

const ROWS = `
  SELECT j.id, j.status, b.bytes AS body, b.sha256, r.bytes AS result
  FROM jobs AS j LEFT JOIN bodies AS b ON b.job = j.seq LEFT JOIN results AS r ON r.job = j.seq`;

/** @param acknowledged Lines `A id` (accepted) and `F id` (finished). */
export function verify(path: string, acknowledged: readonly string[]): Verdict {
  const problems: string[] = [];
  let rows = new Map<string, Row>();
  try {
    const db = new Database(path, { fileMustExist: true });
    const integrity = db.pragma("integrity_check", { simple: true });
    if (integrity !== "ok") problems.push(`integrity: ${String(integrity)}`);
    rows = new Map(
      db
        .prepare<[], Row>(ROWS)
        .all()
        .map((row) => [row.id, row]),
    );
    const counted = db
      .prepare<[], { jobs: number; bytes: number }>("SELECT jobs, stored_bytes AS bytes FROM usage")
      .get();
    if (counted?.jobs !== rows.size) problems.push(`counted ${counted?.jobs} jobs where there are ${rows.size}`);
    db.close();
  } catch (error) {
    problems.push(`cannot be opened: ${String(error)}`);
  }
  for (const row of rows.values()) problems.push(...problemsOf(row));
  let lost = 0;
  for (const line of acknowledged) {
    const [kind, id = ""] = line.split(" ");
    const row = rows.get(id);
    if (kind === "A" && row === undefined) lost++;
    if (kind === "F" && row?.status !== 2) lost++;
  }
  return { lost, problems };
}

function problemsOf(row: Row): string[] {
  const problems: string[] = [];
  if (row.body === null) problems.push("a job without its body");
  else if (
    !createHash("sha256")
      .update(row.body)
      .digest()
      .equals(row.sha256 ?? Buffer.alloc(0))
  ) {
    problems.push("a body that is not what was sent");
  }
  if ((row.status === 2) !== (row.result !== null)) problems.push("an end without its answer, or the reverse");
  return problems;
}
