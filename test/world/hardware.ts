// The machine under the router: one device and the engines on it. It outlives routers, as real engines do, and it
// watches what no router may ever do: two models on the device, more calls than slots, one job running twice.

import type { Placement } from "../../src/backends/backend.ts";
import type { VirtualClock } from "../../src/simulator/virtual-clock.ts";
import type { EngineFacts } from "./facts.ts";

export interface Resident extends Placement {
  readonly endpoint: string;
  readonly epoch: number;
  alive: boolean;
}

export interface LiveCall {
  readonly tag: string;
  readonly model: string;
  readonly startedAtMs: number;
  /** The router has closed its socket; the engine may take a while to notice. Null: it has not. */
  abortedAtMs: number | null;
}

/** After this an aborted call no longer holds its slot, whether or not the engine has let go. */
const CANCEL_GRACE_MS = 10_000;

export class Hardware {
  readonly clock: VirtualClock;
  readonly engines: ReadonlyMap<string, EngineFacts>;
  readonly violations: string[] = [];
  readonly calls = new Set<LiveCall>();
  /** Calls begun, by the job's tag. */
  readonly callCounts = new Map<string, number>();
  /** What engines have answered in full, by tag and attempt: a caller gets one of these and no others. */
  readonly answers = new Map<string, Uint8Array>();
  /** What callers have sent, by tag: an engine gets exactly these bytes. */
  readonly bodies = new Map<string, Uint8Array>();
  readonly #startMs: number;
  /** False: faults have stopped, and every engine behaves. */
  stormy = true;
  loads = 0;
  resident: Resident | null = null;
  loading: Placement | null = null;
  #epoch = 0;

  constructor(clock: VirtualClock, engines: readonly EngineFacts[]) {
    this.clock = clock;
    this.#startMs = clock.nowMs();
    this.engines = new Map(engines.map((engine) => [engine.name, engine]));
  }

  facts(model: string): EngineFacts {
    const found = this.engines.get(model);
    if (found === undefined) throw new Error(`no engine for ${model}`);
    return found;
  }

  violate(what: string): void {
    this.violations.push(`${this.clock.nowMs()}: ${what}`);
  }

  sinceStartMs(): number {
    return this.clock.nowMs() - this.#startMs;
  }

  checkBody(tag: string, bytes: Uint8Array): void {
    const sent = this.bodies.get(tag);
    if (sent === undefined || Buffer.compare(sent, bytes) !== 0) this.violate(`job ${tag} reaches its engine changed`);
  }

  beginLoad(placement: Placement): void {
    this.loads++;
    if (this.loading !== null) this.violate(`${placement.model} is started while ${this.loading.model} loads`);
    if (this.resident !== null) this.violate(`${placement.model} is started while ${this.resident.model} is resident`);
    this.loading = placement;
  }

  endLoad(placement: Placement, ready: boolean): Resident | null {
    this.loading = null;
    if (!ready) return null;
    this.#epoch++;
    const endpoint = `world:${placement.model}:${this.#epoch}`;
    this.resident = { ...placement, endpoint, epoch: this.#epoch, alive: true };
    return this.resident;
  }

  beginCall(tag: string, model: string): LiveCall {
    const facts = this.facts(model);
    const nowMs = this.clock.nowMs();
    const open = [...this.calls].filter((call) => call.model === model && !this.#isDeaf(call)).length;
    if (open >= facts.concurrency) this.violate(`${model} gets call ${open + 1} with ${facts.concurrency} slots`);
    for (const call of this.calls)
      if (call.tag === tag && !this.#isDeaf(call)) this.violate(`job ${tag} runs twice at once`);
    const call = { tag, model, startedAtMs: nowMs, abortedAtMs: null };
    this.calls.add(call);
    this.callCounts.set(tag, (this.callCounts.get(tag) ?? 0) + 1);
    return call;
  }

  /** Calls that were aborted and did not close their sockets in time: their slots are free again. */
  deafCalls(): number {
    return [...this.calls].filter((call) => this.#isDeaf(call)).length;
  }

  #isDeaf({ abortedAtMs }: LiveCall): boolean {
    return abortedAtMs !== null && this.clock.nowMs() >= abortedAtMs + CANCEL_GRACE_MS;
  }

  /** The router was killed: its sockets close, so its calls end. Its engines go with it, or run on without it. */
  routerDied(enginesSurvive: boolean): void {
    this.calls.clear();
    if (this.loading !== null) this.endLoad(this.loading, enginesSurvive);
    if (!enginesSurvive || this.resident?.alive === false) this.resident = null;
  }
}
