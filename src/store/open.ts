// From `store.url` to a store: the scheme picks the implementation.

import { isAbsolute, resolve } from "node:path";
import { StoreOpenError } from "./open-error.ts";
import { openSqliteStore, type StoreOptions } from "./sqlite/open.ts";
import type { SqliteStore } from "./sqlite/sqlite-store.ts";

/** Reads `sqlite:./data/sir.db`; relative paths start at `baseDirectory`. @throws {StoreOpenError} */
export function sqlitePath(url: string, baseDirectory: string): string {
  const [, path] = /^sqlite:(?:\/\/(?=\/))?(.+)$/.exec(url) ?? [];
  if (path === undefined) {
    const scheme = /^[a-z+]+:/i.exec(url)?.[0] ?? "none";
    throw new StoreOpenError(
      "bad_url",
      `store.url names no store this version knows (its scheme is ${scheme})`,
      'write it as "sqlite:./data/sir.db"',
    );
  }
  if (path === ":memory:" || path.endsWith("/")) {
    throw new StoreOpenError(
      "bad_url",
      "store.url must name a file, because jobs must outlive the router",
      'write it as "sqlite:./data/sir.db"',
    );
  }
  return isAbsolute(path) ? path : resolve(baseDirectory, path);
}

/** @throws {StoreOpenError} with a sentence on how to mend it */
export async function openStore(url: string, baseDirectory: string, options: StoreOptions): Promise<SqliteStore> {
  return openSqliteStore({ ...options, path: sqlitePath(url, baseDirectory), host: "worker" });
}
