// Reads `store.url`. One database knows nothing of another, so the kinds are listed here and nowhere else.

import { dirname, resolve } from "node:path";
import type { Problem } from "./problem.ts";
import type { StoreTarget } from "./resolved.ts";

/** @param baseDir what a relative path is relative to */
export function storeTarget(url: string, baseDir: string): StoreTarget | Problem {
  const at = url.indexOf(":");
  const kind = at < 0 ? "" : url.slice(0, at);
  const rest = url.slice(at + 1);
  if (kind !== "sqlite") {
    const came =
      kind === "postgres" || kind === "postgresql"
        ? "names PostgreSQL, which is not supported yet."
        : "is not understood.";
    return { path: "store.url", text: came, mend: 'Write "sqlite:./data/sir.db".' };
  }
  if (rest === ":memory:") return { url, databasePath: null, dataDir: null };
  const path = rest.startsWith("//") ? rest.slice(2) : rest;
  if (path === "" || path.endsWith("/")) {
    return { path: "store.url", text: "names no database file.", mend: 'Write "sqlite:./data/sir.db".' };
  }
  const databasePath = resolve(baseDir, path);
  return { url: `sqlite:${databasePath}`, databasePath, dataDir: dirname(databasePath) };
}
