// The engine put together: what intake and HTTP may ask (EngineControl), and its life from recovery to the last slot.

import type { Backend } from "../backends/backend.ts";
import type { JobId, ModelName } from "../domain/ids.ts";
import type { CancelReason, Job } from "../domain/job.ts";
import type { ModelSpec } from "../domain/model.ts";
import { sameRanking } from "../domain/ranking.ts";
import type { Authority, Body, Ended } from "../store/store.ts";
import { adoptRunning, hearOfLost } from "./adopt.ts";
import { Attempts } from "./attempts.ts";
import { Backlog } from "./backlog.ts";
import type { EngineControl, EngineStatus, Hints, Hold, Latest, Operator, QueueView, Readiness } from "./control.ts";
import { DeviceUnit } from "./device.ts";
import { Dispatcher } from "./dispatch.ts";
import type { EngineParts } from "./engine-parts.ts";
import { Estimates } from "./estimates.ts";
import { Foresight } from "./foresight.ts";
import { keepLive } from "./keep.ts";
import { createLatest } from "./latest.ts";
import { ExpiryWheel, Leases } from "./leases.ts";
import { Lifecycle } from "./lifecycle.ts";
import { Loop } from "./loop.ts";
import { Minutes } from "./minutes.ts";
import type { DeviceJobs } from "./move.ts";
import { Notebook } from "./notebook.ts";
import { createOperator } from "./operator.ts";
import { Overseer } from "./overseer.ts";
import type { Overview } from "./overview.ts";
import { Pauses } from "./pauses.ts";
import { LocalQueueView } from "./place.ts";
import { Reaper } from "./reaper.ts";
import { reconfigure, rerankBacklog } from "./reconfigure.ts";
import { bootAtMs, recover } from "./recovery.ts";
import { RelayHub } from "./relay-hub.ts";
import { speaksChatOnly } from "./respond.ts";
import type { EngineSettings } from "./settings.ts";
import type { EngineWorld } from "./state.ts";
import { readinessOf, type StatusParts, statusOf } from "./status.ts";
import { snapshotOf } from "./views.ts";

/** A caller who follows a redirect is back within this; only then is it not waited for. */
const REDIRECT_GAP_MS = 2_000;

export class Engine implements EngineControl {
  readonly relay: RelayHub;
  readonly queue: QueueView;
  readonly latest: Latest;
  readonly operator: Operator;
  readonly #world: EngineWorld;
  readonly #authority: Authority;
  readonly #leases = new Leases();
  readonly #devices: DeviceUnit[];
  readonly #lifecycle: Lifecycle;
  readonly #attempts: Attempts;
  readonly #loop: Loop;
  readonly #estimates: Estimates;
  readonly #overseer: Overseer;
  readonly #notebook: Notebook;
  readonly #reaper: Reaper;
  #draining = false;
  #recovered = false;
  #fault: string | null = null;
  #closed: Promise<void> | null = null;

  constructor(parts: EngineParts) {
    const { settings, store, clock, ids, owner, emit, openBody } = parts;
    const fatal = (error: unknown): void => {
      this.#fault ??= error instanceof Error ? error.message : String(error);
      parts.onFatal(error);
    };
    this.#world = {
      clock,
      ids,
      store,
      emit: (event) => {
        for (const each of [this.#estimates, this.#overseer, this.#world.minutes, this.#notebook]) each.hear(event);
        emit(event);
      },
      changed: (change) => parts.onChange?.(change),
      openBody,
      freeGiB: parts.freeGiB ?? (() => Promise.resolve(null)),
      settings,
      foresight: new Foresight(
        () => this.#world,
        (model) => this.#devices.some((each) => each.find(model) !== null || each.move?.load === model),
      ),
      pauses: new Pauses(() => this.#world),
      minutes: new Minutes(clock, (minutes) => store.append([{ type: "minutes", minutes }])),
      models: new Map(),
      backlog: new Backlog(),
      live: new Map(),
      chatOnly: new Set(),
      wake: (reason) => this.#loop.wake(reason),
      fatal,
    };
    const look = () => this.#devices.map((device) => snapshotOf(device, this.#devices, this.#world));
    this.#estimates = new Estimates(this.#world, look);
    const seen = () => ({ world: this.#world, devices: this.#devices, estimates: this.#estimates });
    this.#overseer = new Overseer(() => clock.nowMs(), seen);
    this.#notebook = new Notebook(() => ({ ...seen(), hour: this.#overseer.page }));
    const deadlines = new ExpiryWheel();
    this.relay = new RelayHub();
    this.#authority = { owner, pool: settings.pool, term: 1 };
    const jobs: DeviceJobs = {
      interrupt: (job) => job.abort?.abort("drain"),
      loadFailed: (entry) => this.#lifecycle.failUnloadable(entry),
    };
    const fleet: DeviceUnit[] = [];
    for (const spec of settings.devices) fleet.push(new DeviceUnit(spec, this.#world, jobs, fleet));
    this.#devices = fleet;
    this.#lifecycle = new Lifecycle(this.#world, { leases: this.#leases, relay: this.relay, deadlines });
    this.#attempts = new Attempts(this.#world, owner, this.relay, this.#lifecycle);
    const dispatcher = new Dispatcher(this.#world, this.#authority, this.#attempts, this.#lifecycle);
    this.#loop = new Loop(this.#world, this.#devices, dispatcher);
    this.#reaper = new Reaper(this.#world, {
      leases: this.#leases,
      deadlines,
      lifecycle: this.#lifecycle,
      devices: this.#devices,
    });
    this.queue = new LocalQueueView(this.#world, this.#devices, this.#estimates);
    this.latest = createLatest(this.#world, fleet);
    this.operator = createOperator({
      world: this.#world,
      devices: this.#devices,
      book: this.#loop.book,
      setDraining: (draining) => {
        this.#draining = draining;
      },
    });
    reconfigure(this.#world, this.#devices, settings, parts.backends);
  }

  /** Recovers, then starts deciding. Nothing is dispatched before it resolves. */
  async start(): Promise<void> {
    this.#loop.startingSinceMs = this.#world.clock.nowMs();
    this.#loop.startingSinceMs = await bootAtMs(this.#world);
    for (const each of [this.#world.pauses, this.#world.foresight, this.#notebook]) await each.recover();
    await recover(this.#world, this.#authority, this.#lifecycle, this.#overseer.loads);
    await adoptRunning(this.#world, this.#devices);
    this.#loop.recovered();
    this.#recovered = true;
    if (this.#world.settings.unattended !== true) this.#reaper.start();
    this.#world.wake("load");
  }

  /** Models and settings as the configuration now says; jobs stay, those of removed models fail. */
  async reconfigure(settings: EngineSettings, backends: ReadonlyMap<ModelName, Backend>): Promise<void> {
    const reranked = !sameRanking(settings.policy.ranking, this.#world.settings.policy.ranking);
    const orphaned = reconfigure(this.#world, this.#devices, settings, backends);
    hearOfLost(this.#world, this.#devices);
    if (reranked) {
      rerankBacklog(this.#world);
      await this.#world.store.rerank(settings.policy.ranking);
    }
    const message = (model: ModelName): string => `Model "${model}" was taken out of the configuration.`;
    const failing = orphaned.map(({ id, model }) =>
      this.#lifecycle.end(id, { type: "fail", error: { code: "model_not_found", message: message(model) } }),
    );
    await Promise.all(failing);
    this.#world.wake("load");
  }

  /** Starts nothing more; lets running work finish for `shutdownMs`, then queues it again, uncharged. Idempotent. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    this.#draining = true;
    this.#loop.closing = true;
    this.#world.wake("change");
    this.#reaper.stop();
    const { clock, settings, live } = this.#world;
    const interrupt = (): void => [...live.values()].forEach(({ abort }) => void abort?.abort("shutdown"));
    const timer = clock.at(clock.nowMs() + settings.shutdownMs, interrupt);
    await this.#attempts.idle();
    timer.cancel();
    this.#loop.stop();
    for (const each of [this.#world.minutes, this.#notebook]) each.flush();
    const waiting = [...live.values()].filter(({ durable }) => !durable);
    await Promise.all(waiting.map(({ id }) => this.#lifecycle.end(id, { type: "cancel", reason: "disconnect" })));
    const backends = new Set([...this.#world.models.values()].map(({ backend }) => backend));
    await Promise.all([...backends].map((backend) => backend.close()));
  }

  get hints(): Hints {
    return this.#world.foresight;
  }

  model(name: ModelName): ModelSpec | null {
    const entry = this.#world.models.get(name);
    return entry === undefined || entry.removed ? null : entry.spec;
  }

  admit(job: Job, body: Body | null): void {
    this.#lifecycle.admit(job, body);
  }

  reconcile(): void {
    this.#reaper.doubt();
  }

  cancel(id: JobId, reason: CancelReason): Promise<Ended | null> {
    return this.#lifecycle.end(id, { type: "cancel", reason });
  }

  renew(id: JobId): void {
    this.#leases.renew(id, this.#world.clock.nowMs());
    this.#setDemand(id, true);
  }

  hold(id: JobId): Hold {
    let held = true;
    this.#leases.hold(id);
    this.#setDemand(id, true);
    // A hold comes before the job in one tick, or too late: then there is nothing to hold.
    this.#world.clock.soon(() => {
      if (!this.#world.live.has(id)) this.#leases.forget(id);
    });
    const once = (act: (nowMs: number) => void): void => {
      if (!held) return;
      held = false;
      act(this.#world.clock.nowMs());
    };
    return {
      release: () => once((nowMs) => this.#leases.release(id, nowMs)),
      drop: (orphanMs) => once((nowMs) => this.#drop(id, orphanMs, nowMs)),
      sendOn: (orphanMs) => once((nowMs) => this.#sendOn(id, orphanMs, nowMs)),
    };
  }

  speaksChatOnly(name: ModelName): boolean {
    const spec = this.model(name);
    return spec !== null && speaksChatOnly(spec, this.#world.chatOnly);
  }

  isOrphan(id: JobId): boolean {
    return this.#leases.isOrphan(id);
  }

  keep(id: JobId, repeat: Uint8Array | null): Promise<Job | null> {
    return keepLive(this.#world, id, repeat);
  }

  leaseExpiresAtMs(id: JobId): number | null {
    return this.#leases.expiresAtMs(id);
  }

  finished(id: JobId, untilMs: number, signal?: AbortSignal): Promise<Job | null> {
    return this.#lifecycle.finished(id, untilMs, signal);
  }

  watch(id: JobId, onChange: () => void): () => void {
    return this.#lifecycle.watch(id, onChange);
  }

  status(): EngineStatus {
    return statusOf(this.#parts());
  }

  overview(): Overview {
    return this.#overseer.view();
  }

  readiness(): Readiness {
    return readinessOf(this.#parts(), this.#recovered, this.#fault);
  }

  #parts(): StatusParts {
    return { world: this.#world, devices: this.#devices, loop: this.#loop, draining: this.#draining };
  }

  #drop(id: JobId, orphanMs: number, nowMs: number): void {
    if (this.#leases.drop(id, orphanMs, nowMs) === "kept") return;
    this.#setDemand(id, false);
    if (orphanMs > 0) return;
    this.#lifecycle.end(id, { type: "cancel", reason: "disconnect" }).catch((error: unknown) => {
      const detail = error instanceof Error ? error.message : String(error);
      this.#world.emit({ type: "store.unavailable", verb: "end", detail });
    });
  }

  #sendOn(id: JobId, orphanMs: number, nowMs: number): void {
    if (this.#leases.drop(id, orphanMs, nowMs) === "kept") return;
    this.#world.clock.at(nowMs + REDIRECT_GAP_MS, () => {
      if (this.#leases.isOrphan(id)) this.#setDemand(id, false);
    });
  }

  #setDemand(id: JobId, demand: boolean): void {
    const live = this.#world.live.get(id);
    if (live === undefined || live.demand === demand) return;
    this.#world.models.get(live.model)?.queue.setDemand(live, demand);
    live.demand = demand;
    this.#world.wake("completion");
  }
}
