// What the tests of this folder start from: a whole router but for HTTP, on a virtual clock. The engine is the real one
// with mock models; the store is SQLite in memory; large bodies lie in a directory of their own.

import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { onTestFinished } from "vitest";
import type { MockBackend } from "../../src/backends/mock/backend.ts";
import { createMockBackend, mockOptions } from "../../src/backends/mock.ts";
import { SirError } from "../../src/domain/errors.ts";
import type { RouterEvent } from "../../src/domain/event.ts";
import { DEFAULT_POOL, type DeviceId, LOCAL_CALLER, type ModelName } from "../../src/domain/ids.ts";
import type { Job } from "../../src/domain/job.ts";
import type { ModelSpec } from "../../src/domain/model.ts";
import { Engine } from "../../src/engine/engine.ts";
import type { Listener } from "../../src/engine/relay.ts";
import type { IncomingCall, Intake, PreparedCall } from "../../src/intake/intake.ts";
import { createModelDirectory, type ModelDirectory } from "../../src/intake/models.ts";
import { createIntake, type IntakeDeps, type IntakeSettings } from "../../src/intake/submit.ts";
import { bindPolicy } from "../../src/scheduler/policies/registry.ts";
import { createSimulatedIds } from "../../src/simulator/seeded.ts";
import { VirtualClock } from "../../src/simulator/virtual-clock.ts";
import { openSqliteStore } from "../../src/store/sqlite/open.ts";
import type { Result, Store } from "../../src/store/store.ts";
import { createTestFiles, type TestFiles } from "./files.ts";

const GPU = "gpu0" as DeviceId;

export function modelSpec(name: string, aliases: readonly string[] = [], more: Partial<ModelSpec> = {}): ModelSpec {
  return {
    name: name as ModelName,
    label: name,
    aliases,
    upstreamName: null,
    priority: 1,
    concurrency: 1,
    memoryGiB: null,
    loadMs: 2000,
    usesDevice: true,
    devices: [GPU],
    pinned: false,
    preload: false,
    unloadAfterMs: null,
    maxLoadFailures: 5,
    loadTimeoutMs: 900_000,
    firstLoadTimeoutMs: 7_200_000,
    firstByteTimeoutMs: 1_800_000,
    idleTimeoutMs: 300_000,
    runTimeoutMs: 14_400_000,
    stallMs: 300_000,
    ...more,
  };
}

export interface Given {
  readonly intake: Intake;
  readonly engine: Engine;
  readonly store: Store;
  readonly models: ModelDirectory;
  readonly clock: VirtualClock;
  readonly database: Database.Database;
  readonly events: RouterEvent[];
  readonly backends: ReadonlyMap<ModelName, MockBackend>;
  /** Names of the files that large bodies lie in now. */
  files(): Promise<readonly string[]>;
  open(uri: string): AsyncIterable<Uint8Array>;
  /** Rows of a statement, for what must hold in the database itself. */
  sql(statement: string): unknown[];
}

export interface GivenOptions {
  readonly specs?: readonly ModelSpec[];
  readonly settings?: Partial<IntakeSettings>;
  readonly maxStoredBytes?: number;
  /** Stands between intake and its files, for faults. */
  readonly files?: (files: TestFiles) => TestFiles;
  /** Stands between intake and the store, for faults. */
  readonly storeAs?: (store: Store) => IntakeDeps["store"];
}

/** What intake asks of a store, so that one verb can be made to fail. */
export function verbsOf(store: Store): IntakeDeps["store"] {
  return {
    add: (job) => store.add(job),
    addVolatile: (job) => store.addVolatile(job),
    job: (id) => store.job(id),
    repeats: (caller, repeat) => store.repeats(caller, repeat),
    keyed: (caller, key) => store.keyed(caller, key),
  };
}

export async function given(options: GivenOptions = {}): Promise<Given> {
  const { specs = [modelSpec("alpha", ["chat"]), modelSpec("beta")], storeAs = verbsOf } = options;
  const clock = new VirtualClock();
  const ids = createSimulatedIds(clock, 1);
  const owner = ids.next("boot");
  const events: RouterEvent[] = [];
  const emit = (event: RouterEvent): number => events.push(event);
  const onFatal = (error: unknown): never => {
    throw error;
  };
  const policy = bindPolicy("fifo", {});
  const directory = await mkdtemp(join(tmpdir(), "sir-intake-"));
  const database = new Database(":memory:");
  const { maxStoredBytes = 1e9 } = options;
  const { ranking } = policy;
  const sqlite = await openSqliteStore({
    ...{ owner, clock, ranking, maxStoredBytes, resultTtlMs: 86_400_000, readTtlMs: null, onFatal },
    host: { database },
  });
  const files = options.files?.(createTestFiles(directory)) ?? createTestFiles(directory);
  const backends = new Map(
    specs.map((spec) => [spec.name, createMockBackend(spec, mockOptions.parse({ defaultMaxTokens: 8 }), { clock })]),
  );
  const engine = new Engine({
    ...{ store: sqlite, backends, clock, ids, owner, emit, openBody: (uri) => files.open(uri), onFatal },
    settings: {
      ...{ pool: DEFAULT_POOL, models: specs, devices: [{ id: GPU, memoryGiB: null, memoryProbe: null }], policy },
      ...{ leaseMs: 60_000, sweepMs: 1000, maxAttempts: 3, maxInterruptions: 10, cancelGraceMs: 10_000 },
      ...{ orphanMs: 10_000, drainMs: 300_000, shutdownMs: 10_000, passes: { mode: "events" } },
    },
  });
  await engine.start();
  const models = createModelDirectory(specs);
  const settings: IntakeSettings = {
    ...{ orphanMs: 10_000, bodyLimitBytes: 64 * 1024 * 1024, leaseMs: 60_000, sweepMs: 1000, maxQueued: 1000 },
    ...{ maxOpenBodies: 1000, maxMemoryBytes: 64 * 1024 * 1024 },
    ...options.settings,
  };
  const intake = createIntake({ store: storeAs(sqlite), engine, clock, ids, files, models, settings, emit });
  onTestFinished(async () => {
    await rm(directory, { recursive: true, force: true });
  });
  return {
    ...{ intake, engine, store: sqlite, models, clock, database, events, backends },
    files: () => readdir(join(directory, "spool")),
    open: (uri) => files.open(uri),
    sql: (statement) => database.prepare(statement).all(),
  };
}

export interface CallOptions {
  readonly endpoint?: string;
  readonly caller?: typeof LOCAL_CALLER;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A request with this body, which may also come in pieces. */
export function callOf(body: unknown, options: CallOptions = {}): IncomingCall {
  const { endpoint = "/v1/chat/completions", caller = LOCAL_CALLER, headers = {} } = options;
  return {
    endpoint,
    caller,
    header: (name) => headers[name] ?? (name === "content-type" ? "application/json" : null),
    body: isPieces(body) ? body : pieces(body),
  };
}

function isPieces(body: unknown): body is AsyncIterable<Uint8Array> {
  return typeof body === "object" && body !== null && Symbol.asyncIterator in body;
}

async function* pieces(body: unknown): AsyncGenerator<Uint8Array> {
  if (body instanceof Uint8Array) yield body;
  else yield Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
}

export const ASK = { model: "alpha", messages: [{ role: "user", content: "hello" }], max_tokens: 2 };

export async function prepared(world: Given, body: unknown = ASK, options: CallOptions = {}): Promise<PreparedCall> {
  return world.intake.prepare(callOf(body, options));
}

/** The code of the error, or what came instead. */
export async function codeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
  } catch (error) {
    if (error instanceof SirError) return error.code;
    throw error;
  }
  return "accepted";
}

export async function errorOf(work: Promise<unknown>): Promise<SirError> {
  try {
    await work;
  } catch (error) {
    if (error instanceof SirError) return error;
    throw error;
  }
  throw new Error("it was accepted");
}

/** Waits for the whole answer, as a synchronous caller does. */
export class Ear implements Listener {
  readonly live = null;
  readonly heard: { readonly job: Job; readonly result: Result | null }[] = [];

  done(job: Job, result: Result | null): void {
    this.heard.push({ job, result });
  }
}
