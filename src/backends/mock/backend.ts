// The mock backend of one model: loads and unloads engines after the timing model and hands requests to them.

import { type Clock, sleepUntil } from "../../domain/clock.ts";
import type { DeviceId, InstanceId, ModelName } from "../../domain/ids.ts";
import type { ModelSpec } from "../../domain/model.ts";
import {
  type Backend,
  type Call,
  type Capabilities,
  type DriverContext,
  type Expectation,
  type Instance,
  LoadError,
  type LoadProgress,
  type Outcome,
  type Placement,
  type Sink,
} from "../backend.ts";
import { MockEngine } from "./engine.ts";
import {
  type CountedFaults,
  countedLoadFault,
  countedRequestFault,
  type LoadFault,
  type MockFaults,
} from "./faults.ts";
import type { GpuLedger } from "./gpu-ledger.ts";
import type { Compute } from "./processor.ts";

export interface MockTiming extends CountedFaults {
  readonly loadSeconds: number;
  readonly unloadSeconds: number;
  readonly firstTokenSeconds: number;
  readonly tokensPerSecond: number;
  readonly defaultMaxTokens: number;
  readonly slowdownPerJob: number;
  readonly sharesDevice: boolean;
}

export interface MockLab {
  /** Asked before the counted faults of the configuration. */
  readonly faults?: MockFaults;
  /** Shared by all mock models of a box. */
  readonly ledger?: GpuLedger;
  /** The compute of a device that models share; absent: each model has its own. */
  compute?(device: DeviceId, clock: Clock): Compute;
}

export interface MockCounts {
  readonly loads: number;
  readonly failedLoads: number;
  readonly stops: number;
  readonly requests: number;
  /** Requests that ended by their signal. */
  readonly aborted: number;
  /** The most that were ever in flight at once. */
  readonly mostInFlight: number;
}

const LOG_LINES = 200;

export class MockBackend implements Backend {
  readonly can: Capabilities = { loads: true, knowsMemory: true, copies: true };
  readonly #spec: ModelSpec;
  readonly #timing: MockTiming;
  readonly #context: DriverContext;
  readonly #lab: MockLab;
  readonly #engines = new Map<InstanceId, MockEngine>();
  readonly #closing = new AbortController();
  readonly #log: string[] = [];
  #labels = 0;
  #inFlight = 0;
  #counts = { loads: 0, failedLoads: 0, stops: 0, requests: 0, aborted: 0, mostInFlight: 0 };

  constructor(spec: ModelSpec, timing: MockTiming, context: DriverContext, lab: MockLab) {
    this.#spec = spec;
    this.#timing = timing;
    this.#context = context;
    this.#lab = lab;
  }

  get counts(): MockCounts {
    return { ...this.#counts };
  }

  expects(): Expectation {
    const { unloadSeconds, firstTokenSeconds, defaultMaxTokens, tokensPerSecond, slowdownPerJob } = this.#timing;
    const aloneMs = (firstTokenSeconds + defaultMaxTokens / tokensPerSecond) * 1_000;
    return { unloadMs: unloadSeconds * 1_000, aloneMs, slowdownPerJob };
  }

  async start(
    placement: Placement,
    report: (progress: LoadProgress) => void,
    signal: AbortSignal,
  ): Promise<{ endpoint: string }> {
    const nth = ++this.#counts.loads;
    const fault = this.#lab.faults?.load?.(placement, nth) ?? countedLoadFault(this.#timing, nth);
    if (this.#lab.ledger?.occupy(placement, this.#spec.memoryGiB) === false) {
      this.#counts.failedLoads++;
      throw new LoadError(`out of memory on ${placement.device}: another model holds it`, [this.#say("out of memory")]);
    }
    try {
      await this.#load(fault, report, AbortSignal.any([signal, this.#closing.signal]));
    } catch (error) {
      this.#counts.failedLoads++;
      this.#lab.ledger?.release(placement);
      throw error;
    }
    const endpoint = `mock://${encodeURIComponent(placement.model)}/${placement.instance}`;
    this.#engines.set(placement.instance, this.#engine({ ...placement, endpoint, epoch: nth }));
    this.#say(`loaded on ${placement.device ?? "no device"}`);
    if (fault?.kind === "die_later") {
      this.#context.clock.at(this.#nowMs() + fault.afterMs, () => this.crash(placement.instance));
    }
    return { endpoint };
  }

  async stop(instance: Instance, graceMs: number, signal: AbortSignal): Promise<{ memory: "free" | "unknown" }> {
    this.#counts.stops++;
    const engine = this.#engines.get(instance.instance);
    if (engine === undefined) return { memory: "free" };
    const fault = this.#lab.faults?.stop?.(instance) ?? null;
    if (fault?.kind === "ignores") {
      await sleepUntil(this.#context.clock, this.#nowMs() + graceMs, signal);
      throw new LoadError(`${instance.model} did not stop within ${graceMs / 1000} s`, this.#log.slice(-5));
    }
    engine.end();
    const unloadMs = fault?.kind === "slow" ? fault.unloadMs : this.#timing.unloadSeconds * 1000;
    await sleepUntil(this.#context.clock, this.#nowMs() + unloadMs, signal);
    if (signal.aborted) throw new LoadError(`the stop of ${instance.model} was given up before its memory was free`);
    this.#remove(engine, "unloaded");
    return { memory: fault?.kind === "unknown_memory" ? "unknown" : "free" };
  }

  async run(instance: Instance, call: Call, sink: Sink, signal: AbortSignal): Promise<Outcome> {
    const engine = this.#engines.get(instance.instance);
    if (engine === undefined) return { kind: "lost", detail: "connection refused" };
    this.#counts.requests++;
    this.#counts.mostInFlight = Math.max(this.#counts.mostInFlight, ++this.#inFlight);
    const outcome = await engine.run(call, sink, signal);
    this.#inFlight--;
    if (outcome.kind === "aborted") this.#counts.aborted++;
    return outcome;
  }

  async alive(instance: Instance, _signal: AbortSignal): Promise<boolean> {
    return this.#engines.get(instance.instance)?.isAlive ?? false;
  }

  async inspect(): Promise<readonly Instance[]> {
    return [...this.#engines.values()].map((engine) => engine.instance);
  }

  async logs(_model: ModelName, lines: number): Promise<readonly string[]> {
    return lines > 0 ? this.#log.slice(-lines) : [];
  }

  async close(): Promise<void> {
    this.#closing.abort();
    for (const engine of [...this.#engines.values()]) {
      engine.end();
      this.#remove(engine, "closed");
    }
  }

  /** The engine's process dies. Does nothing when there is none. */
  crash(instance: InstanceId): void {
    this.#engines.get(instance)?.crash();
  }

  /** The router's process died: its sockets close, and the engines go on without it. */
  dropConnections(): void {
    for (const engine of this.#engines.values()) engine.cutConnections("disconnected");
  }

  #engine(instance: Instance): MockEngine {
    const timing = this.#timing;
    const engine: MockEngine = new MockEngine(instance, {
      clock: this.#context.clock,
      pace: { firstTokenMs: timing.firstTokenSeconds * 1000, tokenMs: 1000 / timing.tokensPerSecond },
      voice: { tag: this.#spec.name, defaultMaxTokens: timing.defaultMaxTokens },
      slowdownPerJob: timing.slowdownPerJob,
      ...this.#sharedCompute(instance),
      fault: (where, nth, endpoint) =>
        this.#lab.faults?.request?.(where, nth, endpoint) ?? countedRequestFault(timing, nth, this.#counts.requests),
      label: () => ({
        id: `mock${String(++this.#labels).padStart(20, "0")}`,
        createdAtSeconds: Math.floor(this.#context.clock.wallMs() / 1000),
      }),
      died: () => this.#remove(engine, "died"),
    });
    return engine;
  }

  #sharedCompute({ device }: Instance): { compute?: Compute } {
    if (!this.#timing.sharesDevice || device === null || this.#lab.compute === undefined) return {};
    return { compute: this.#lab.compute(device, this.#context.clock) };
  }

  #remove(engine: MockEngine, how: string): void {
    this.#engines.delete(engine.instance.instance);
    this.#lab.ledger?.release(engine.instance);
    this.#say(how);
  }

  async #load(fault: LoadFault | null, report: (progress: LoadProgress) => void, signal: AbortSignal): Promise<void> {
    const { clock } = this.#context;
    const startMs = this.#nowMs();
    const planMs = fault?.kind === "slow" ? fault.loadMs : this.#timing.loadSeconds * 1000;
    const lastMs = fault?.kind === "fail" && fault.afterMs !== undefined ? fault.afterMs : planMs;
    report({ phase: "starting", progress: 0 });
    this.#say("starting");
    await sleepUntil(clock, startMs + lastMs / 2, signal);
    if (!signal.aborted) report({ phase: "loading", progress: 0.5 });
    if (fault?.kind === "hang") await aborted(signal);
    else await sleepUntil(clock, startMs + lastMs, signal);
    if (signal.aborted)
      throw new LoadError(`the load of ${this.#spec.name} was given up`, [this.#say("load given up")]);
    if (fault?.kind !== "fail") return;
    const last = this.#say(fault.message ?? "the engine exited during its load (code 1)");
    throw new LoadError(last, fault.logTail ?? this.#log.slice(-5));
  }

  #nowMs(): number {
    return this.#context.clock.nowMs();
  }

  /** One line of the engine's log after the wall clock in ms, kept within bounds. Returns it without its time. */
  #say(text: string): string {
    this.#log.push(`${Math.round(this.#context.clock.wallMs())} ${this.#spec.name} ${text}`);
    if (this.#log.length > LOG_LINES) this.#log.shift();
    return text;
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
