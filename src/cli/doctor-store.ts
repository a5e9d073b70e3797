// Whether the store can be opened. Only reads: a router that runs on it is not disturbed.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ResolvedConfig } from "../config/resolved.ts";
import { isInForce, type Tuning } from "../domain/tuning.ts";
import { StoreOpenError } from "../store/open-error.ts";
import { openReader } from "../store/sqlite/connection.ts";
import { inspectSchema } from "../store/sqlite/migrate.ts";
import { createReads } from "../store/sqlite/reads.ts";
import { type Check, fault, ok, warn } from "./check.ts";

const MIGRATIONS = fileURLToPath(new URL("../../migrations/sqlite", import.meta.url));
const HELD = "A running router holds it, and no second one can.";
const HELD_MEND =
  "`sir status` asks that router; before `sir serve` starts another on this store it has to be stopped.";
/** Loads that are looked at for each model. */
const RECENT_LOADS = 5;

const codeOf = (error: unknown): string => (error instanceof Error && "code" in error ? String(error.code) : "");

/** Whether a router holds this data directory now. */
export function isHeld(dataDir: string): boolean {
  const lock = join(dataDir, "router.lock");
  if (!existsSync(lock)) return false;
  try {
    const db = openReader(lock);
    try {
      db.pragma("busy_timeout = 0");
      db.prepare("SELECT count(*) FROM sqlite_master").get();
      return false;
    } finally {
      db.close();
    }
  } catch (error) {
    return codeOf(error).startsWith("SQLITE_BUSY");
  }
}

export function checkStore(config: ResolvedConfig): Check[] {
  const { databasePath, dataDir } = config.store;
  if (databasePath === null || dataDir === null) {
    return [warn("store", "In memory: every job is lost when the router ends.", "Set store.url to sqlite:PATH.")];
  }
  const held = isHeld(dataDir);
  if (!existsSync(databasePath)) return [ok("store", `${databasePath}, will be created`)];
  try {
    const db = openReader(databasePath);
    try {
      const { applied, pending } = inspectSchema(db, MIGRATIONS);
      const state = pending > 0 ? `, ${pending} schema steps to apply at start (a copy is made first)` : "";
      const words = `${databasePath}, ${applied} schema steps${state}`;
      const found = held ? warn("store", `${words}. ${HELD}`, HELD_MEND) : ok("store", words);
      return pending > 0
        ? [found]
        : [found, ...learnedLoads(createReads(db).loads(RECENT_LOADS), config), ...tunedSettings(db)];
    } finally {
      db.close();
    }
  } catch (error) {
    return [storeFault(error, databasePath)];
  }
}

function storeFault(error: unknown, path: string): Check {
  if (error instanceof StoreOpenError) return fault("store", error.message, error.mend);
  const code = codeOf(error);
  if (code === "SQLITE_NOTADB") {
    return fault("store", `${path} is not a SQLite database.`, "Move it away, or choose another store.url.");
  }
  if (code.startsWith("SQLITE_CORRUPT")) {
    return fault("store", `${path} is damaged.`, "Restore a copy, or move it away to start with an empty store.");
  }
  const text = error instanceof Error ? error.message : String(error);
  return fault("store", `${path} cannot be read: ${text}.`, "Make the file and its directory readable for this user.");
}

const TUNING = "SELECT detail FROM tunings ORDER BY seq DESC LIMIT 1";

/** Settings that hold beside the file, or may come to. */
function tunedSettings(db: ReturnType<typeof openReader>): Check[] {
  const detail = db.prepare<[], string>(TUNING).pluck().get();
  const tuning = detail === undefined ? null : (JSON.parse(detail) as Tuning);
  if (tuning === null || (tuning.state !== "shadow" && !isInForce(tuning))) return [];
  const set = JSON.stringify(tuning.set);
  const where = { shadow: "are tried in shadow", live: "are obeyed on trial", kept: "are obeyed" } as const;
  const text = `tuned settings ${set} ${where[tuning.state as keyof typeof where]}, beside the configuration.`;
  const mend = tuning.state === "kept" ? "Write them into scheduler, or take them back" : "To take them back";
  return [warn("tuning", text, `${mend}: sir tune --back.`)];
}

interface Load {
  readonly model: string;
  readonly outcome: string;
  readonly startedAtMs: number;
  readonly endedAtMs: number;
}

/** A load that was measured to take as long as the ceiling: the ceiling cannot be kept for that model. */
function learnedLoads(loads: readonly Load[], { engine }: ResolvedConfig): Check[] {
  const { maxWaitMs } = engine.policy.guards;
  if (maxWaitMs === null) return [];
  return engine.models.flatMap(({ name, usesDevice }) => {
    const took = loads
      .filter((load) => load.model === name && load.outcome === "ready")
      .map((load) => load.endedAtMs - load.startedAtMs)
      .sort((a, b) => a - b);
    const median = took[Math.floor((took.length - 1) / 2)];
    if (!usesDevice || median === undefined || median < maxWaitMs) return [];
    const text = `its loads take ${(median / 1000).toFixed(1)} s as measured, and scheduler.maxWaitSeconds is ${maxWaitMs / 1000}.`;
    return [warn(name, text, "Raise scheduler.maxWaitSeconds above it.")];
  });
}
