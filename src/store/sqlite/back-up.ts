// A copy made by the writing connection itself: from another one it would start anew at each commit and never end.

import { chmod, rename } from "node:fs/promises";
import type { Database } from "better-sqlite3";

/** Complete, or not there: a cut backup leaves `path` as it was. Commits go on meanwhile. */
export async function backUp(db: Database, path: string): Promise<void> {
  const partial = `${path}.partial`;
  await db.backup(partial);
  // It holds every prompt and answer.
  await chmod(partial, 0o600);
  await rename(partial, path);
}
