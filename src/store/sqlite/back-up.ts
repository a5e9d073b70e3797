// A copy made by the writing connection itself: from another one it would start anew at each commit and never end.

import { chmod, copyFile, mkdir, rename } from "node:fs/promises";
import { dirname, join } from "node:path";
import Database from "better-sqlite3";
import { codeOf } from "./batch.ts";

const SPOOLED = `
  SELECT location FROM bodies WHERE location IS NOT NULL AND instr(location, '#') = 0
  UNION SELECT location FROM files`;

/** Complete, or not there: a cut backup leaves `path` as it was. Commits go on meanwhile. */
export async function backUp(db: Database.Database, path: string): Promise<void> {
  const partial = `${path}.partial`;
  await db.backup(partial);
  // It holds every prompt and answer.
  await chmod(partial, 0o600);
  await rename(partial, path);
}

/** The URI of every spooled file that a row refers to. */
export function spooledIn(db: Database.Database): string[] {
  return db.prepare<[], string>(SPOOLED).pluck().all();
}

/** Bodies too large for the database lie beside it, so they go beside the copy. Names are unique and never change. */
export async function copySpooled(directory: string, copy: string): Promise<void> {
  const db = new Database(copy, { readonly: true });
  const uris = spooledIn(db);
  db.close();
  if (uris.length === 0 || dirname(copy) === directory) return;
  await mkdir(join(dirname(copy), "spool"), { recursive: true, mode: 0o700 });
  for (const uri of uris) {
    const path = uri.slice("file:".length);
    try {
      await copyFile(join(directory, path), join(dirname(copy), path));
    } catch (error) {
      // Purged since the copy was made.
      if (codeOf(error) !== "ENOENT") throw error;
    }
  }
}
