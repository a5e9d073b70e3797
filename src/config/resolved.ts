// The configuration as the running parts want it: durations in ms, names resolved, driver options checked.

import type { Driver, Member } from "../backends/backend.ts";
import type { CallerKey } from "../domain/caller-key.ts";
import type { EngineSettings } from "../engine/settings.ts";
import type { Endpoint } from "../webhooks/endpoint.ts";
import type { Explained } from "./origin.ts";
import type { ConfigDocument } from "./schema.ts";
import type { LogLevel } from "./schema-sections.ts";

export interface ServerSettings {
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  readonly bodyLimitBytes: number;
  readonly shutdownMs: number;
}

export interface SyncSettings {
  readonly holdMs: number;
  readonly redirect: boolean;
  readonly orphanMs: number;
}

export interface JobSettings {
  readonly leaseMs: number;
  readonly sweepMs: number;
  readonly resultTtlMs: number;
  /** Null: an answer that was read is kept as long as any other. */
  readonly readTtlMs: number | null;
  readonly maxAttempts: number;
  readonly maxInterruptions: number;
  readonly maxQueued: number;
  readonly maxStoredBytes: number;
  readonly cancelGraceMs: number;
}

export interface BatchSettings {
  readonly maxFileBytes: number;
  readonly maxLines: number;
  readonly fileTtlMs: number;
}

export interface StoreTarget {
  /** `sqlite:` and an absolute path, or `sqlite::memory:`. */
  readonly url: string;
  /** Absolute path of the database; null in memory. */
  readonly databasePath: string | null;
  /** Absolute folder for the database, spooled bodies and the lock; null in memory. */
  readonly dataDir: string | null;
}

/** Models that share one backend: one call of `driver.create`. */
export interface BackendGroup {
  readonly driver: Driver;
  readonly shareKey: string;
  readonly members: readonly Member<unknown>[];
}

export interface ResolvedConfig {
  /** Absolute; null when there was none and the defaults were given in code. */
  readonly file: string | null;
  readonly server: ServerSettings;
  readonly sync: SyncSettings;
  readonly jobs: JobSettings;
  readonly batches: BatchSettings;
  readonly webhooks: readonly Endpoint[];
  /** None: everybody who reaches the router is let in. */
  readonly keys: readonly CallerKey[];
  readonly store: StoreTarget;
  readonly logLevel: LogLevel;
  readonly engine: EngineSettings;
  readonly backends: readonly BackendGroup[];
  /** Odd, but no reason to refuse: sentences. */
  readonly warnings: readonly string[];
  /** Settings of policies that were not chosen; accepted and without effect. */
  readonly unused: readonly string[];
  /** Every value with where it came from, in the order of the schema. */
  readonly values: readonly Explained[];
  readonly document: ConfigDocument;
}
