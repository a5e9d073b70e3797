// What the tests of this folder start from: the real app, intake, engine and store; only the model's engine is a stand-in,
// so that a test decides its bytes. Virtual time, unless a test needs sockets.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import type { Hono } from "hono";
import { onTestFinished } from "vitest";
import { createFileDesk } from "../../src/batches/files.ts";
import type { Receipt } from "../../src/client/wire.ts";
import type { Clock } from "../../src/domain/clock.ts";
import type { Emit } from "../../src/domain/event.ts";
import { DEFAULT_POOL, type DeviceId } from "../../src/domain/ids.ts";
import type { ModelSpec } from "../../src/domain/model.ts";
import { Engine } from "../../src/engine/engine.ts";
import type { PreloadSettings } from "../../src/engine/settings.ts";
import { createApp } from "../../src/http/app.ts";
import { type ClosingSwitch, createClosing } from "../../src/http/closing.ts";
import type { HttpDeps, HttpEnv, HttpEvent } from "../../src/http/deps.ts";
import { createModelDirectory } from "../../src/intake/models.ts";
import { createIntake } from "../../src/intake/submit.ts";
import { Audience } from "../../src/live/audience.ts";
import { bindPolicy } from "../../src/scheduler/policies/registry.ts";
import { createSimulatedIds } from "../../src/simulator/seeded.ts";
import { VirtualClock } from "../../src/simulator/virtual-clock.ts";
import { openSqliteStore } from "../../src/store/sqlite/open.ts";
import type { Store } from "../../src/store/store.ts";
import { createTestFiles } from "../intake/files.ts";
import { modelSpec } from "../intake/given.ts";
import { ScriptedBackend, type ScriptedCall } from "./scripted-backend.ts";

const GPU = "gpu0" as DeviceId;

export interface Given {
  readonly app: Hono<HttpEnv>;
  readonly clock: VirtualClock;
  readonly engine: Engine;
  readonly store: Store;
  readonly backend: ScriptedBackend;
  readonly closing: ClosingSwitch;
  readonly events: HttpEvent[];
  readonly database: Database.Database;
  /** Where spooled bytes lie. */
  readonly directory: string;
}

export interface GivenOptions {
  readonly specs?: readonly ModelSpec[];
  readonly deps?: Partial<HttpDeps>;
  readonly bodyLimitBytes?: number;
  readonly maxQueued?: number;
  readonly leaseMs?: number;
  readonly readTtlMs?: number;
  readonly preloading?: PreloadSettings;
  /** False: a hold has no end of its own. Default: redirects after 50 s. */
  readonly redirect?: boolean;
  /** The same database under a new router, after the one before was killed. */
  readonly database?: Database.Database;
  readonly maxStoredBytes?: number;
  readonly maxFileBytes?: number;
  /** Real time, for tests with sockets. */
  readonly clock?: Clock;
}

export const MODEL = "org/alpha:q4";

export async function given(options: GivenOptions = {}): Promise<Given> {
  const specs = options.specs ?? [modelSpec(MODEL, ["chat"], { concurrency: 4 }), modelSpec("beta")];
  const clock = options.clock ?? new VirtualClock();
  const ids = createSimulatedIds(clock, options.database === undefined ? 1 : 2);
  const owner = ids.next("boot");
  const events: HttpEvent[] = [];
  const onFatal = (error: unknown): never => {
    throw error;
  };
  const policy = bindPolicy("fifo", {});
  const directory = await mkdtemp(join(tmpdir(), "sir-http-"));
  const database = options.database ?? new Database(":memory:");
  const leaseMs = options.leaseMs ?? 60_000;
  const { ranking } = policy;
  const store = await openSqliteStore({
    ...{ owner, clock, ranking, maxStoredBytes: options.maxStoredBytes ?? 1e9, resultTtlMs: 86_400_000, onFatal },
    readTtlMs: options.readTtlMs ?? null,
    host: { database },
  });
  const files = createTestFiles(directory);
  const backend = new ScriptedBackend();
  const audience = new Audience();
  const emit: Emit = (event) => audience.event(event);
  const engine = new Engine({
    ...{ store, clock, ids, owner, emit, openBody: (uri) => files.open(uri), onFatal },
    onChange: (change) => audience.change(change),
    backends: new Map(specs.map(({ name }) => [name, backend])),
    settings: {
      ...{ pool: DEFAULT_POOL, models: specs, devices: [{ id: GPU, memoryGiB: null, memoryProbe: null }], policy },
      ...{ leaseMs, sweepMs: 1000, maxAttempts: 3, maxInterruptions: 10, cancelGraceMs: 10_000 },
      ...{ orphanMs: 10_000, drainMs: 300_000, shutdownMs: 10_000, passes: { mode: "events" } },
      ...(options.preloading === undefined ? {} : { preloading: options.preloading }),
    },
  });
  await engine.start();
  const intake = createIntake({
    ...{ store, engine, clock, ids, files, models: createModelDirectory(specs), emit },
    settings: {
      orphanMs: 10_000,
      bodyLimitBytes: options.bodyLimitBytes ?? 64 * 1024 * 1024,
      ...{ leaseMs, sweepMs: 1000, maxQueued: options.maxQueued ?? 1000 },
      ...{ maxOpenBodies: 1000, maxMemoryBytes: 64 * 1024 * 1024 },
    },
  });
  const closing = createClosing();
  const desk = createFileDesk({
    ...{ store, ids, bytes: files },
    settings: { maxFileBytes: options.maxFileBytes ?? 1024 * 1024, batchFileTtlMs: 30 * 86_400_000 },
  });
  const app = createApp({
    ...{
      intake,
      files: desk,
      engine,
      store,
      clock,
      ids,
      closing,
      settings: { holdMs: 50_000, redirect: options.redirect ?? true, orphanMs: 10_000 },
    },
    openBody: (uri) => files.open(uri),
    log: (event) => events.push(event),
    boot: owner,
    watch: (listener) => audience.add(listener),
    ...options.deps,
  });
  onTestFinished(async () => {
    await rm(directory, { recursive: true, force: true });
  });
  return { app, clock: clock as VirtualClock, engine, store, backend, closing, events, database, directory };
}

export const CHAT = "/v1/chat/completions";
export const ASK = { model: MODEL, messages: [{ role: "user", content: "hello" }] };
export const ANSWER = '{"id":"chatcmpl-1","choices":[ {"n":1.0} ], "big":9007199254740993}';

export interface PostOptions {
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** POSTs a body; the answer comes in virtual time, so that the test goes on meanwhile. */
export function post(world: Pick<Given, "app">, body: unknown = ASK, options: PostOptions = {}): Promise<Response> {
  const { path = CHAT, headers = {}, signal } = options;
  const text = typeof body === "string" || body instanceof Uint8Array ? body : JSON.stringify(body);
  return Promise.resolve(
    world.app.request(path, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: text as string,
      ...(signal === undefined ? {} : { signal }),
    }),
  );
}

export function get(world: Pick<Given, "app">, path: string, headers: Record<string, string> = {}): Promise<Response> {
  return Promise.resolve(world.app.request(path, { headers }));
}

export const ASYNC = { prefer: "respond-async" };

/** A receipt's id and the call that its job has made of the engine. */
export async function submitted(world: Given, headers: Record<string, string> = {}, body: unknown = ASK) {
  const response = await settled(world, post(world, body, { headers: { ...ASYNC, ...headers } }));
  const receipt = (await response.json()) as { id: string };
  return { response, receipt, id: receipt.id };
}

/** The promise's value, letting virtual time pass if need be. */
export async function settled<T>(world: Pick<Given, "clock">, promise: Promise<T>, limitMs = 3_600_000): Promise<T> {
  let pending = true;
  const done = promise.finally(() => {
    pending = false;
  });
  done.catch(() => undefined);
  const untilMs = world.clock.nowMs() + limitMs;
  // The store's memory commits take real turns of the event loop, not virtual time.
  for (let turn = 0; pending && turn < 50; turn++) await world.clock.settle();
  await world.clock.runWhile(() => pending, untilMs);
  for (let turn = 0; pending && turn < 200; turn++) await world.clock.settle();
  if (pending) throw new Error("The promise did not settle within the time it was given.");
  return done;
}

/** The next call that reaches the engine. */
export function nextCall(world: Given): Promise<ScriptedCall> {
  return settled(world, world.backend.next());
}

export async function quiet(world: Pick<Given, "clock">): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await world.clock.settle();
}

export async function passes(world: Pick<Given, "clock">, waitMs: number): Promise<void> {
  await world.clock.runUntil(world.clock.nowMs() + waitMs);
  await quiet(world);
}

export async function receiptOf(world: Given, path: string, headers: Record<string, string> = {}) {
  const response = await settled(world, get(world, path, headers));
  return { response, receipt: (await response.json()) as Receipt };
}

export async function completed(world: Given, body = ANSWER, headers?: Record<string, string>): Promise<string> {
  const { id } = await submitted(world);
  (await nextCall(world)).answer(body, 200, headers);
  await settled(world, get(world, `/v1/jobs/${id}?wait=60`));
  return id;
}
