// The history of a store file, read without disturbing a router that holds it: a connection that cannot write, and
// sees what is committed at each page.

import { existsSync } from "node:fs";
import type { History } from "../history.ts";
import { StoreOpenError } from "../open-error.ts";
import { openReader } from "./connection.ts";
import { createHistory } from "./history.ts";
import { inspectSchema } from "./migrate.ts";
import { MIGRATIONS } from "./open.ts";
import { explain } from "./start-up.ts";

export interface HistoryFile {
  readonly history: History;
  close(): void;
}

/** @throws {StoreOpenError} with a mend */
export function openHistoryFile(path: string): HistoryFile {
  if (!existsSync(path)) {
    throw new StoreOpenError("missing", `there is no store at ${path}`, "name the router's store with --store");
  }
  try {
    const db = openReader(path);
    const { pending } = inspectSchema(db, MIGRATIONS);
    if (pending === 0) return { history: createHistory(db), close: () => void db.close() };
    db.close();
  } catch (error) {
    throw explain(path, error);
  }
  throw new StoreOpenError(
    "older_schema",
    `${path} was written by an older version, which kept no history`,
    "start this version's router on it once",
  );
}
