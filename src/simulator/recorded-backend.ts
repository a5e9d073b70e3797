// An engine that takes the time it took: loads, unloads and attempts last as they were recorded, attempts in the company
// they have now. The n-th load of a model takes as long as its n-th recorded one, so that two replays that load alike are
// given alike.

import {
  type Backend,
  type Call,
  type Instance,
  LoadError,
  type Outcome,
  type Placement,
  type Sink,
} from "../backends/backend.ts";
import { Processor } from "../backends/mock/processor.ts";
import { type Clock, sleepUntil } from "../domain/clock.ts";
import type { LoadTier } from "../domain/event.ts";
import type { DeviceId, InstanceId, ModelName } from "../domain/ids.ts";
import {
  median,
  type RecordedArrival,
  type RecordedLoad,
  type RecordedModel,
  type RecordedRun,
} from "./recorded-work.ts";

const HEAD = { status: 200, headers: {} };
const REFUSAL = { status: 400, headers: {} };
const ANSWER = new Uint8Array(1);

export interface RecordedParts {
  readonly clock: Clock;
  readonly model: RecordedModel;
  /** Where the model is loaded when the replay starts. */
  readonly residentOn: readonly DeviceId[];
  /** The arrival that a call's `x-client-request-id` names. */
  arrival(name: string): RecordedArrival | undefined;
}

export class RecordedBackend implements Backend {
  readonly can = { loads: true, knowsMemory: true };
  readonly #parts: RecordedParts;
  readonly #processors = new Map<InstanceId, Processor>();
  readonly #attempts = new Map<string, number>();
  readonly #unloadMs: number;
  #loads = 0;
  #unloads = 0;

  constructor(parts: RecordedParts) {
    this.#parts = parts;
    this.#unloadMs = median(parts.model.unloads) ?? 0;
  }

  expects(): { unloadMs: number; aloneMs: number; slowdownPerJob: number } {
    const { medianWorkMs, slowdownPerJob } = this.#parts.model;
    return { unloadMs: this.#unloadMs, aloneMs: medianWorkMs, slowdownPerJob };
  }

  nextTier(): LoadTier {
    return this.#nextLoad().tier;
  }

  async start(
    placement: Placement,
    _report: unknown,
    signal: AbortSignal,
  ): Promise<{ endpoint: string; tier: LoadTier }> {
    const { clock, model } = this.#parts;
    const load = this.#nextLoad();
    await sleepUntil(clock, clock.nowMs() + load.tookMs, signal);
    // A load that was given up is repeated whole: nothing is known of how far it would have come.
    if (signal.aborted) throw new LoadError(`the load of ${model.name} was given up`);
    this.#loads++;
    if (!load.ready) throw new LoadError(`${model.name} did not load then`);
    this.#processors.set(placement.instance, new Processor(clock, model.slowdownPerJob));
    return { endpoint: "recorded:", tier: load.tier };
  }

  async stop({ instance }: Instance, _graceMs: number, signal: AbortSignal): Promise<{ memory: "free" }> {
    const { clock, model } = this.#parts;
    const { unloads } = model;
    const tookMs = unloads[this.#unloads++ % Math.max(1, unloads.length)] ?? this.#unloadMs;
    this.#processors.get(instance)?.endAll("engine_gone");
    this.#processors.delete(instance);
    await sleepUntil(clock, clock.nowMs() + tookMs, signal);
    return { memory: "free" };
  }

  async run({ instance }: Instance, call: Call, sink: Sink, signal: AbortSignal): Promise<Outcome> {
    const processor = this.#processors.get(instance);
    if (processor === undefined) return { kind: "lost", detail: "the engine is gone" };
    const { workMs, ends } = this.#nextRun(call.headers["x-client-request-id"] ?? "");
    const share = processor.join();
    const abort = (): void => processor.end(share, "aborted");
    signal.addEventListener("abort", abort, { once: true });
    const reached = await processor.reach(share, workMs, Number.POSITIVE_INFINITY);
    signal.removeEventListener("abort", abort);
    processor.leave(share);
    if (reached !== "reached")
      return share.reason === "aborted" ? { kind: "aborted" } : { kind: "lost", detail: "the engine is gone" };
    if (ends === "busy") return { kind: "busy", retryAfterMs: null, detail: "as recorded" };
    if (ends === "lost") return { kind: "lost", detail: "as recorded" };
    if (ends === "failed") return { kind: "failed", code: "backend_error", detail: "as recorded" };
    sink.head(ends === "refused" ? REFUSAL : HEAD);
    await sink.chunk(ANSWER);
    return { kind: ends };
  }

  alive({ instance }: Instance): Promise<boolean> {
    return Promise.resolve(this.#processors.has(instance));
  }

  /** What was loaded is found, as by a router that was started again. */
  inspect(): Promise<readonly Instance[]> {
    const { clock, model, residentOn } = this.#parts;
    return Promise.resolve(
      residentOn.map((device, i): Instance => {
        const instance = `ins_${model.name}_${i}` as InstanceId;
        this.#processors.set(instance, new Processor(clock, model.slowdownPerJob));
        return { instance, model: model.name as ModelName, device, endpoint: "recorded:", epoch: 0 };
      }),
    );
  }

  logs = (): Promise<readonly string[]> => Promise.resolve([]);

  async close(): Promise<void> {
    for (const processor of this.#processors.values()) processor.endAll("engine_gone");
    this.#processors.clear();
  }

  #nextLoad(): RecordedLoad {
    const { loads, loadMs } = this.#parts.model;
    return loads[this.#loads % Math.max(1, loads.length)] ?? { tookMs: loadMs, ready: true, tier: "cold" };
  }

  #nextRun(name: string): RecordedRun {
    const nth = this.#attempts.get(name) ?? 0;
    this.#attempts.set(name, nth + 1);
    const { runs = [] } = this.#parts.arrival(name) ?? {};
    return runs[Math.min(nth, runs.length - 1)] ?? { workMs: this.#parts.model.medianWorkMs, ends: "succeeded" };
  }
}
