// A model whose engine is kept alive: an unload puts it to sleep, a load wakes it. Whatever goes wrong on the way ends in
// the one state that is always right: the engine is ended, and the next load starts it anew.

import { sleepUntil } from "../../domain/clock.ts";
import type { LoadTier } from "../../domain/event.ts";
import type { ModelName } from "../../domain/ids.ts";
import {
  type Backend,
  type Call,
  type Capabilities,
  type Instance,
  LoadError,
  type LoadProgress,
  type Outcome,
  type Placement,
  type Sink,
} from "../backend.ts";
import { type BringUp, bringUp, untilServing } from "../process/bring-up.ts";
import type { Hosted } from "../process/host.ts";
import { headersOf } from "../process/launch-plan.ts";
import type { LostListener, ModelEngines } from "../process/model-engines.ts";
import type { VllmSleepOptions } from "./options.ts";
import { checkSleeps, fallAsleep, isSleeping, type SleepTarget, wakeUp } from "./sleep-calls.ts";
import type { Sleepers } from "./sleepers.ts";

/** An engine that is ended here has no work; it gets this long to end by itself. */
const END_GRACE_MS = 5_000;
/** Calls that were given up may take as long to close their sockets before falling asleep is refused. */
const IDLE_MS = 5_000;

type Memory = { memory: "free" | "unknown" };

export class SleepBackend implements Backend {
  readonly can: Capabilities = { loads: true, knowsMemory: true };
  readonly #engines: ModelEngines;
  readonly #sleepers: Sleepers;
  readonly #options: VllmSleepOptions;
  /** Why the last wake failed, until the restart has said so. */
  #wakeFault: string | null = null;

  constructor(engines: ModelEngines, sleepers: Sleepers, options: VllmSleepOptions) {
    this.#engines = engines;
    this.#sleepers = sleepers;
    this.#options = options;
    sleepers.bound(options.maxAsleep);
  }

  async start(
    placement: Placement,
    report: (progress: LoadProgress) => void,
    signal: AbortSignal,
  ): Promise<{ endpoint: string; tier: LoadTier }> {
    const load = this.#engines.loading(placement, report, signal);
    const woken = await this.#wake(load);
    if (woken !== null) return { endpoint: woken.origin, tier: "wake" };
    const tier = this.#launchTier();
    const check = (engine: Hosted, until: AbortSignal): Promise<void> =>
      checkSleeps(this.#targetOf(engine), this.#engines.probing, until);
    const engine = await bringUp({ ...load, check });
    if (this.#wakeFault !== null) engine.note(`this engine is a restart: waking failed: ${this.#wakeFault}`);
    this.#wakeFault = null;
    this.#keep(engine);
    return { endpoint: engine.origin, tier };
  }

  nextTier(model: ModelName): LoadTier {
    return this.#sleepers.has(model, ({ ended, fits }) => ended === null && fits) ? "wake" : this.#launchTier();
  }

  onLost(listener: LostListener): void {
    this.#engines.onLost = listener;
  }

  async stop(instance: Instance, graceMs: number, signal: AbortSignal): Promise<Memory> {
    const engine = await this.#engines.find(instance);
    if (engine === null) return { memory: "unknown" };
    const mayStay = engine.ended === null && engine.proven && engine.fits && this.#sleepers.most > 0;
    if (!mayStay) return this.#end(engine, graceMs, signal);
    if (this.#sleepers.levelOf(engine) !== null) return { memory: "free" };
    return this.#putToSleep(engine, graceMs, signal);
  }

  async run(instance: Instance, call: Call, sink: Sink, signal: AbortSignal): Promise<Outcome> {
    const engine = await this.#engines.find(instance);
    if (engine === null) return { kind: "lost", detail: "its process is gone" };
    if (engine.ended !== null) return { kind: "lost", detail: engine.ended };
    if (!this.#sleepers.isAwake(engine)) return { kind: "lost", detail: "the engine is asleep" };
    return this.#sleepers.during(engine, () => this.#engines.call(engine, call, sink, signal));
  }

  async alive(instance: Instance, signal: AbortSignal): Promise<boolean> {
    const engine = await this.#engines.find(instance);
    if (engine === null || engine.ended !== null || !this.#sleepers.isAwake(engine)) return false;
    if ((await isSleeping(this.#targetOf(engine), this.#engines.probing, signal)) === true) return false;
    return this.#engines.alive(engine, signal);
  }

  async answers(instance: Instance, signal: AbortSignal): Promise<boolean> {
    const engine = await this.#engines.find(instance);
    if (engine === null || !this.#sleepers.isAwake(engine)) return false;
    return this.#engines.answers(engine, signal);
  }

  /** Those that are awake, and those that are only to be ended; found asleep, they sleep on. */
  async inspect(): Promise<readonly Instance[]> {
    const awake: Hosted[] = [];
    for (const engine of await this.#engines.inService()) {
      if (this.#sleepers.levelOf(engine) === null && !(await this.#sleepsOn(engine))) awake.push(engine);
    }
    return awake.map(({ seat, origin }) => ({ ...seat, endpoint: origin }));
  }

  logs(model: ModelName, lines: number): Promise<readonly string[]> {
    return this.#engines.logs(model, lines);
  }

  followLogs(model: ModelName, lines: number, signal: AbortSignal): AsyncIterable<string> {
    return this.#engines.followLogs(model, lines, signal);
  }

  close(): Promise<void> {
    return this.#engines.close();
  }

  #launchTier(): LoadTier {
    return this.#engines.host.isWarm(this.#engines.member) ? "warm" : "cold";
  }

  /** The engine, awake and proven; null when there is none to wake, or none that would. */
  async #wake(load: BringUp): Promise<Hosted | null> {
    for (const engine of await this.#engines.host.engines()) {
      const level = this.#sleepers.levelOf(engine);
      if (level === null || engine.model !== load.placement.model || !this.#sleepers.turn(engine)) continue;
      try {
        if (engine.ended === null && engine.fits && (await this.#rouse(engine, level, load))) return engine;
        this.#sleepers.rose(engine);
        await this.#end(engine, END_GRACE_MS);
      } finally {
        this.#sleepers.turned(engine);
      }
      if (load.signal.aborted) throw new LoadError("the load was given up");
    }
    return null;
  }

  /** False: it would not, or it was called off in between and nobody can say what it is now. */
  async #rouse(engine: Hosted, level: 1 | 2, load: BringUp): Promise<boolean> {
    const { clock } = this.#engines.context;
    const late = new AbortController();
    const untilMs = clock.nowMs() + this.#options.wakeTimeoutSeconds * 1000;
    const timer = clock.at(untilMs, () => late.abort());
    const signal = AbortSignal.any([load.signal, late.signal]);
    load.report({ phase: "waking", progress: null });
    try {
      await engine.reseat(load.placement);
      await wakeUp(this.#targetOf(engine), level, { probing: this.#engines.probing, untilMs, signal });
      await untilServing(engine, { ...load, signal });
      this.#sleepers.rose(engine);
      return true;
    } catch (error) {
      const why = late.signal.aborted ? `not awake after ${this.#options.wakeTimeoutSeconds} s` : wordsOf(error);
      if (!load.signal.aborted) {
        this.#wakeFault = why;
        engine.note(`waking failed: ${why}; the engine is restarted`);
      }
      return false;
    } finally {
      timer.cancel();
    }
  }

  async #putToSleep(engine: Hosted, graceMs: number, signal: AbortSignal): Promise<Memory> {
    const sleepers = this.#sleepers;
    if (!sleepers.turn(engine)) throw new LoadError("the engine is on its way to sleep or awake already");
    try {
      await this.#untilIdle(engine, Math.min(graceMs, IDLE_MS), signal);
      await this.#makeRoom();
      const { clock } = this.#engines.context;
      const untilMs = clock.nowMs() + this.#options.sleepTimeoutSeconds * 1000;
      const { level } = this.#options;
      try {
        await fallAsleep(this.#targetOf(engine), level, { probing: this.#engines.probing, untilMs, signal });
        sleepers.fell(engine, level);
        if (engine.ended === null) return { memory: "free" };
      } catch (error) {
        engine.note(`falling asleep failed: ${wordsOf(error)}; the engine is ended`);
      }
      sleepers.rose(engine);
      return await this.#end(engine, END_GRACE_MS, signal);
    } finally {
      sleepers.turned(engine);
    }
  }

  /** Never asleep with work in flight. @throws {LoadError} */
  async #untilIdle(engine: Hosted, limitMs: number, given: AbortSignal): Promise<void> {
    const { clock } = this.#engines.context;
    const done = new AbortController();
    const signal = AbortSignal.any([given, done.signal]);
    const late = sleepUntil(clock, clock.nowMs() + limitMs, signal);
    await Promise.race([this.#sleepers.untilIdle(engine, signal), late]);
    done.abort();
    const inFlight = this.#sleepers.inFlight(engine);
    if (inFlight > 0) throw new LoadError(`the engine is not put to sleep: ${inFlight} requests are still in flight`);
  }

  /** The main memory holds so many: those that have slept longest are ended first. */
  async #makeRoom(): Promise<void> {
    for (let engine = this.#sleepers.surplus(); engine !== null; engine = this.#sleepers.surplus()) {
      engine.note("ended, because as many engines sleep as may");
      this.#sleepers.rose(engine);
      await this.#end(engine, END_GRACE_MS);
    }
  }

  async #end(engine: Hosted, graceMs: number, hurry?: AbortSignal): Promise<Memory> {
    await this.#engines.end(engine, graceMs, hurry);
    this.#sleepers.rose(engine);
    return { memory: "unknown" };
  }

  /** One that dies in its sleep is missed by nobody, and cleared away here. */
  #keep(engine: Hosted): void {
    this.#engines.watch(engine);
    void engine.whenEnded.then(async () => {
      if (this.#sleepers.levelOf(engine) === null) return;
      this.#sleepers.rose(engine);
      await this.#end(engine, 0).catch(() => undefined);
    });
  }

  async #sleepsOn(engine: Hosted): Promise<boolean> {
    if (engine.ended !== null || !engine.fits || engine.proven) return false;
    const { signal } = new AbortController();
    if ((await isSleeping(this.#targetOf(engine), this.#engines.probing, signal)) !== true) return false;
    if (this.#sleepers.surplus() !== null) return false;
    this.#sleepers.fell(engine, this.#options.level);
    engine.proven = true;
    this.#keep(engine);
    return true;
  }

  #targetOf(engine: Hosted): SleepTarget {
    const { healthPath } = this.#options;
    return { origin: engine.origin, headers: headersOf(this.#options), healthPath };
  }
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
