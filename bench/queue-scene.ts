// Many jobs in the engine's memory without an engine around them: models with the engine's own queues, a device with a
// resident, leases and the index by id, and a clock that is set by hand.

import Database from "better-sqlite3";
import type { Backend } from "../src/backends/backend.ts";
import { resolveConfig } from "../src/config/load.ts";
import { bandOf } from "../src/domain/band.ts";
import type { Clock } from "../src/domain/clock.ts";
import type { ModelName } from "../src/domain/ids.ts";
import { rankOf } from "../src/domain/ranking.ts";
import { Backlog, type ModelQueue } from "../src/engine/backlog.ts";
import { DeviceUnit } from "../src/engine/device.ts";
import { Foresight } from "../src/engine/foresight.ts";
import { Leases } from "../src/engine/leases.ts";
import type { LiveJob } from "../src/engine/live-job.ts";
import { Minutes } from "../src/engine/minutes.ts";
import { Pauses } from "../src/engine/pauses.ts";
import { reconfigure } from "../src/engine/reconfigure.ts";
import type { EngineSettings } from "../src/engine/settings.ts";
import { type EngineWorld, type ModelEntry, residencyOf } from "../src/engine/state.ts";
import type { BoundPolicy } from "../src/scheduler/policy.ts";
import { openInProcess } from "../src/store/sqlite/open.ts";
import { createIds } from "../src/system/ids.ts";

const MODELS = 8;
/** Over how long the jobs have come. */
const HISTORY_MS = 3_600_000;
const LEASE_MS = 60_000;
/** One in ten is interactive, two are batch. */
const PRIORITIES = [0, 0, 100, 0, -100, 0, 10, 0, -110, 5] as const;

export interface SetClock extends Clock {
  advance(byMs: number): void;
}

export interface QueueScene {
  readonly clock: SetClock;
  readonly world: EngineWorld;
  readonly device: DeviceUnit;
  make(): LiveJob;
  add(job: LiveJob): void;
  /** The head of one model's queue, of another model each time. */
  leaving(): LiveJob;
  remove(job: LiveJob): void;
  /** Of the model that is resident. */
  queueOfFirst(): ModelQueue;
}

/** With so many jobs queued, as evenly over models as they come. */
export async function createScene(size: number, policy: BoundPolicy): Promise<QueueScene> {
  const clock = setClock(1_790_000_000_000);
  const { world, device, entries } = await createWorld(clock, policy);
  const leases = new Leases();
  let made = 0;
  let left = 0;
  const entryOf = (n: number): ModelEntry => {
    const entry = entries[n % entries.length];
    if (entry === undefined) throw new Error("the scene has no models");
    return entry;
  };
  const queueOf = ({ model }: LiveJob): ModelQueue => world.backlog.queue(model);
  const scene: QueueScene = {
    clock,
    world,
    device,
    make: () => makeJob(world, entryOf(made).spec.name, made++),
    add(job) {
      world.live.set(job.id, job);
      leases.grant(job.id, LEASE_MS, job.acceptedAtMs);
      queueOf(job).add(job);
    },
    leaving() {
      const job = entryOf(left++).queue.next();
      if (job === undefined) throw new Error("the queue is empty: the scene is too small");
      return job;
    },
    remove(job) {
      if (!queueOf(job).remove(job)) throw new Error("the job was not queued");
      leases.forget(job.id);
      world.live.delete(job.id);
    },
    queueOfFirst: () => entryOf(0).queue,
  };
  for (let n = 0; n < size; n++) {
    clock.advance(HISTORY_MS / size);
    scene.add(scene.make());
  }
  return scene;
}

function makeJob(world: EngineWorld, model: ModelName, n: number): LiveJob {
  const acceptedAtMs = world.clock.nowMs();
  const priority = PRIORITIES[n % PRIORITIES.length] ?? 0;
  return {
    id: world.ids.next("job"),
    model,
    band: bandOf(priority),
    priority,
    rank: rankOf(world.settings.policy.ranking, { acceptedAtMs, priority }),
    acceptedAtMs,
    deadlineAtMs: null,
    durable: true,
    stream: false,
    runAfterMs: 0,
    phase: "queued",
    demand: true,
    loadFailuresBefore: 0,
    row: null,
    body: null,
    abort: null,
    ending: null,
    runningSinceMs: null,
    firstByteAtMs: null,
    wentFirst: 0,
    wentFirstHigher: 0,
  };
}

interface Made {
  readonly world: EngineWorld;
  readonly device: DeviceUnit;
  readonly entries: readonly ModelEntry[];
}

async function createWorld(clock: Clock, policy: BoundPolicy): Promise<Made> {
  const models = Object.fromEntries(
    Array.from({ length: MODELS }, (_, n) => [`model-${n}`, { loadSeconds: 10 + n, backend: { driver: "mock" } }]),
  );
  const document = { store: { url: "sqlite:/tmp/unused.db" }, models };
  const config = resolveConfig(document, { file: null, baseDir: "/", cwd: "/", overrides: [] });
  const settings: EngineSettings = { ...config.engine, policy };
  const backends = new Map<ModelName, Backend>();
  for (const { driver, members } of config.backends) {
    const backend = driver.create(members, { clock });
    for (const { spec } of members) backends.set(spec.name, backend);
  }
  const world = await worldOf(clock, settings);
  const [spec] = settings.devices;
  if (spec === undefined) throw new Error("the scene has no device");
  const fleet: DeviceUnit[] = [];
  const device = new DeviceUnit(spec, world, { interrupt: () => undefined, loadFailed: () => undefined }, fleet);
  fleet.push(device);
  reconfigure(world, [device], settings, backends);
  const entries = [...world.models.values()];
  const [first] = entries;
  if (first === undefined) throw new Error("the scene has no models");
  const instance = { instance: world.ids.next("ins"), model: first.spec.name, device: spec.id, endpoint: "", epoch: 1 };
  device.residents.push(residencyOf(instance, first.backend, [spec.id], clock.nowMs(), false));
  return { world, device, entries };
}

async function worldOf(clock: Clock, settings: EngineSettings): Promise<EngineWorld> {
  const ids = createIds(clock);
  const store = await openInProcess({
    database: new Database(":memory:"),
    owner: ids.next("boot"),
    clock,
    ranking: settings.policy.ranking,
    resultTtlMs: 86_400_000,
    readTtlMs: null,
    maxStoredBytes: 2 ** 30,
    onFatal: (error) => {
      throw error;
    },
  });
  const world: EngineWorld = {
    clock,
    ids,
    store,
    emit: () => undefined,
    changed: () => undefined,
    minutes: new Minutes(clock, () => undefined),
    settings,
    foresight: new Foresight(
      () => world,
      () => false,
    ),
    pauses: new Pauses(() => world),
    models: new Map(),
    chatOnly: new Set(),
    backlog: new Backlog(),
    live: new Map(),
    freeGiB: () => Promise.resolve(null),
    openBody: () => {
      throw new Error("no body is read here");
    },
    wake: () => undefined,
    fatal: (error) => {
      throw error;
    },
  };
  return world;
}

function setClock(atMs: number): SetClock {
  let nowMs = atMs;
  return {
    nowMs: () => nowMs,
    wallMs: () => nowMs,
    at: () => ({ cancel: () => undefined }),
    soon: () => undefined,
    advance(byMs) {
      nowMs += byMs;
    },
  };
}
