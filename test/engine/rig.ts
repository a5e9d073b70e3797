// The live engine on a virtual clock with the in-process store and mock engines, and what came of each job.

import { createHash } from "node:crypto";
import Database from "better-sqlite3";
import type { Backend } from "../../src/backends/backend.ts";
import type { MockFaults } from "../../src/backends/mock/faults.ts";
import { GpuLedger } from "../../src/backends/mock/gpu-ledger.ts";
import { mockDriver } from "../../src/backends/mock.ts";
import { createBackends } from "../../src/backends/registry.ts";
import { resolveConfig } from "../../src/config/load.ts";
import type { Decision } from "../../src/domain/decision.ts";
import type { RouterEvent } from "../../src/domain/event.ts";
import { DEFAULT_POOL, type DeviceId, type JobId, LOCAL_CALLER, type ModelName } from "../../src/domain/ids.ts";
import { isFinal, type Job } from "../../src/domain/job.ts";
import { Engine } from "../../src/engine/engine.ts";
import type { EngineSettings } from "../../src/engine/settings.ts";
import type { Snapshot } from "../../src/scheduler/snapshot.ts";
import { createSimulatedIds } from "../../src/simulator/seeded.ts";
import { VirtualClock } from "../../src/simulator/virtual-clock.ts";
import { openSqliteStore } from "../../src/store/sqlite/open.ts";
import type { NewJob, Store } from "../../src/store/store.ts";

export interface RigModel {
  readonly loadSeconds?: number;
  readonly unloadSeconds?: number;
  readonly tokensPerSecond?: number;
  readonly firstTokenSeconds?: number;
  readonly concurrency?: number;
  readonly priority?: number;
  readonly [key: string]: unknown;
}

export interface RigOptions {
  readonly models: Readonly<Record<string, RigModel>>;
  readonly scheduler?: Readonly<Record<string, unknown>>;
  readonly jobs?: Readonly<Record<string, unknown>>;
  readonly faults?: MockFaults;
  readonly database?: Database.Database;
  readonly clock?: VirtualClock;
  readonly seed?: number;
  /** No leases, deadlines or upkeep: long stretches of time go by quickly. */
  readonly unattended?: boolean;
  readonly devices?: Readonly<Record<string, unknown>>;
  /** What a device's probe says. */
  readonly freeGiB?: () => number | null;
  /** Sees every snapshot that the policy is asked about. */
  readonly watch?: (snapshot: Snapshot) => void;
  /** From the opened store to the engine's start. */
  readonly bootSeconds?: number;
  /** What the engine gets instead of each mock backend. */
  readonly wrap?: (backend: Backend) => Backend;
}

export interface Ask {
  readonly tokens?: number;
  readonly priority?: number;
  readonly leaseMs?: number | null;
  readonly deadlineMs?: number | null;
  readonly stream?: boolean;
  readonly text?: string;
}

const TIMING = ["loadSeconds", "unloadSeconds", "tokensPerSecond", "firstTokenSeconds"] as const;

function documentOf({ models, scheduler, jobs, devices }: RigOptions): unknown {
  const documents = Object.entries(models).map(([name, model]) => {
    const { unloadSeconds = 0.5, tokensPerSecond = 64, firstTokenSeconds = 0, loadSeconds = 3, ...rest } = model;
    const timing = { loadSeconds, unloadSeconds, tokensPerSecond, firstTokenSeconds } satisfies Record<
      (typeof TIMING)[number],
      number
    >;
    return [name, { ...rest, loadSeconds, backend: { driver: "mock", ...timing } }];
  });
  return {
    store: { url: "sqlite::memory:" },
    scheduler: { policy: "model-score", ...scheduler },
    jobs: { ...jobs },
    ...(devices === undefined ? {} : { devices }),
    models: Object.fromEntries(documents),
  };
}

function watched(settings: EngineSettings, watch: RigOptions["watch"]): EngineSettings {
  if (watch === undefined) return settings;
  const choose: EngineSettings["policy"]["choose"] = (field) => {
    watch(field.snapshot);
    return settings.policy.choose(field);
  };
  return { ...settings, policy: { ...settings.policy, choose } };
}

export class Rig {
  readonly clock: VirtualClock;
  readonly database: Database.Database;
  readonly events: { readonly atMs: number; readonly event: RouterEvent }[] = [];
  readonly faults: unknown[] = [];
  readonly startMs: number;
  engine!: Engine;
  store!: Store;
  readonly ledger: GpuLedger;
  readonly #options: RigOptions;
  readonly #ids;

  constructor(options: RigOptions) {
    this.#options = options;
    const sizes = Object.entries(options.devices ?? {}).flatMap(([id, device]) => {
      const { memoryGiB } = device as { readonly memoryGiB?: number };
      return memoryGiB === undefined ? [] : [[id as DeviceId, memoryGiB] as const];
    });
    this.ledger = new GpuLedger(new Map(sizes));
    this.clock = options.clock ?? new VirtualClock();
    this.database = options.database ?? new Database(":memory:");
    this.startMs = this.clock.nowMs();
    this.#ids = createSimulatedIds(this.clock, options.seed ?? 1);
  }

  async open(): Promise<this> {
    const { clock } = this;
    const config = resolveConfig(documentOf(this.#options), { file: null, baseDir: "/", cwd: "/", overrides: [] });
    const owner = this.#ids.next("boot");
    const onFatal = (error: unknown): void => void this.faults.push(error);
    this.store = await openSqliteStore({
      host: { database: this.database },
      owner,
      clock,
      ranking: config.engine.policy.ranking,
      resultTtlMs: config.jobs.resultTtlMs,
      readTtlMs: config.jobs.readTtlMs,
      maxStoredBytes: config.jobs.maxStoredBytes,
      onFatal,
    });
    await clock.runUntil(clock.nowMs() + (this.#options.bootSeconds ?? 0) * 1_000);
    const lab = {
      ledger: this.ledger,
      ...(this.#options.faults === undefined ? {} : { faults: this.#options.faults }),
    };
    this.engine = new Engine({
      settings: { ...watched(config.engine, this.#options.watch), unattended: this.#options.unattended ?? false },
      store: this.store,
      backends: new Map(
        [...createBackends(config.backends, { clock }, [mockDriver(lab)])].map(([model, backend]) => [
          model,
          this.#options.wrap?.(backend) ?? backend,
        ]),
      ),
      ...(this.#options.freeGiB === undefined ? {} : { freeGiB: async () => this.#options.freeGiB?.() ?? null }),
      clock,
      ids: this.#ids,
      owner,
      emit: (event) => void this.events.push({ atMs: clock.nowMs() - this.startMs, event }),
      openBody: () => {
        throw new Error("no body of a test lies in a file");
      },
      onFatal,
    });
    await this.engine.start();
    await clock.settle();
    return this;
  }

  /** Accepts a job that is polled for; its id. */
  async submit(model: string, ask: Ask = {}): Promise<JobId> {
    const added = await this.store.add(this.newJob(model, ask));
    if (added.kind !== "added") throw new Error(added.kind);
    this.engine.admit(added.job, null);
    return added.job.id;
  }

  /** A plain synchronous request, held by its socket. */
  ask(model: string, ask: Ask = {}): { id: JobId; drop(orphanMs: number): void } {
    const newJob = this.newJob(model, ask);
    const { job, recorded } = this.store.addVolatile(newJob);
    recorded.catch((error: unknown) => void this.faults.push(error));
    const hold = this.engine.hold(job.id);
    this.engine.admit(job, newJob.body);
    return { id: job.id, drop: (orphanMs) => hold.drop(orphanMs) };
  }

  /** Submits at each of the given seconds from now, as time gets there. */
  schedule(model: string, atSeconds: readonly number[], ask: Ask = {}): JobId[] {
    const ids: JobId[] = [];
    const fromMs = this.clock.nowMs();
    for (const at of atSeconds) {
      this.clock.at(fromMs + at * 1_000, () => {
        this.submit(model, { leaseMs: null, ...ask }).then(
          (id) => void ids.push(id),
          (error: unknown) => void this.faults.push(error),
        );
      });
    }
    return ids;
  }

  async advance(seconds: number): Promise<void> {
    await this.clock.runUntil(this.clock.nowMs() + seconds * 1_000);
  }

  async job(id: JobId): Promise<Job> {
    const job = await this.store.job(id);
    if (job === null) throw new Error(`${id} is not stored`);
    return job;
  }

  async statuses(ids: readonly JobId[]): Promise<string[]> {
    return Promise.all(ids.map(async (id) => (await this.job(id)).state.status));
  }

  /** Seconds from the rig's start to the job's end; null while it lives. */
  async endedAt(id: JobId): Promise<number | null> {
    const { state } = await this.job(id);
    return isFinal(state.status) && "finishedAtMs" in state ? (state.finishedAtMs - this.startMs) / 1_000 : null;
  }

  moves(): Decision[] {
    return this.events.flatMap(({ event }) =>
      event.type === "decision" && event.decision.kind !== "hold" && event.decision.kind !== "idle"
        ? [event.decision]
        : [],
    );
  }

  of<Type extends RouterEvent["type"]>(type: Type): (Extract<RouterEvent, { type: Type }> & { atS: number })[] {
    return this.events.flatMap(({ event, atMs }) =>
      event.type === type ? [{ ...(event as Extract<RouterEvent, { type: Type }>), atS: atMs / 1_000 }] : [],
    );
  }

  newJob(model: string, ask: Ask): NewJob {
    const { tokens = 64, priority = 0, leaseMs = 60_000, deadlineMs = null, stream = false, text = "." } = ask;
    const bytes = Buffer.from(
      JSON.stringify({ model, stream, max_tokens: tokens, messages: [{ role: "user", content: text }] }),
    );
    return {
      id: this.#ids.next("job"),
      pool: DEFAULT_POOL,
      caller: LOCAL_CALLER,
      model: model as ModelName,
      endpoint: "/v1/chat/completions",
      priority,
      stream,
      leaseMs,
      deadlineMs,
      traceparent: null,
      clientRequestId: null,
      metadata: {},
      idempotency: null,
      body: {
        contentType: "application/json",
        sizeBytes: bytes.byteLength,
        sha256: createHash("sha256").update(bytes).digest(),
        headers: {},
        modelSpan: null,
        source: { kind: "bytes", bytes },
      },
    };
  }
}

export const openRig = (options: RigOptions): Promise<Rig> => new Rig(options).open();
