// An engine that is nothing but time: the mock driver's processor sharing without requests, answers and their bytes. A
// job's body is its length alone in ms. For simulations of a hundred thousand jobs.

import {
  type Backend,
  type Call,
  type Expectation,
  type Instance,
  LoadError,
  type Outcome,
  type Placement,
  type Sink,
} from "../backends/backend.ts";
import { Compute, Processor } from "../backends/mock/processor.ts";
import { type Clock, sleepUntil } from "../domain/clock.ts";
import type { DeviceId, InstanceId } from "../domain/ids.ts";
import type { SimulatedModel } from "./workload.ts";

const HEAD = { status: 200, headers: {} };
const ANSWER = new Uint8Array(1);
const SUCCEEDED: Outcome = { kind: "succeeded" };

/** The compute of each device, shared by the backends of one run. */
export type Gpus = Map<DeviceId, Compute>;

export class TimedBackend implements Backend {
  readonly can = { loads: true, knowsMemory: true, copies: true };
  readonly #model: SimulatedModel;
  readonly #clock: Clock;
  readonly #gpus: Gpus;
  readonly #processors = new Map<InstanceId, Processor>();

  constructor(model: SimulatedModel, clock: Clock, gpus: Gpus = new Map()) {
    this.#model = model;
    this.#clock = clock;
    this.#gpus = gpus;
  }

  expects(): Expectation {
    const { unloadMs, guessedWorkMs, slowdownPerJob } = this.#model;
    return { unloadMs, aloneMs: guessedWorkMs, slowdownPerJob };
  }

  async start(placement: Placement, _report: unknown, signal: AbortSignal): Promise<{ endpoint: string }> {
    await sleepUntil(this.#clock, this.#clock.nowMs() + this.#model.loadMs, signal);
    if (signal.aborted) throw new LoadError(`the load of ${this.#model.name} was given up`);
    const compute = placement.device === null ? undefined : this.#computeOf(placement.device);
    this.#processors.set(placement.instance, new Processor(this.#clock, this.#model.slowdownPerJob, compute));
    return { endpoint: "timed:" };
  }

  async stop({ instance }: Instance, _graceMs: number, signal: AbortSignal): Promise<{ memory: "free" }> {
    this.#processors.get(instance)?.endAll("engine_gone");
    this.#processors.delete(instance);
    await sleepUntil(this.#clock, this.#clock.nowMs() + this.#model.unloadMs, signal);
    return { memory: "free" };
  }

  async run({ instance }: Instance, call: Call, sink: Sink, signal: AbortSignal): Promise<Outcome> {
    const processor = this.#processors.get(instance);
    if (processor === undefined) return { kind: "lost", detail: "connection refused" };
    const share = processor.join();
    const abort = (): void => processor.end(share, "aborted");
    signal.addEventListener("abort", abort, { once: true });
    const reached = await processor.reach(share, await lengthOf(call), this.#clock.nowMs() + call.runTimeoutMs);
    signal.removeEventListener("abort", abort);
    processor.leave(share);
    if (reached === "ended") {
      return share.reason === "aborted" ? { kind: "aborted" } : { kind: "lost", detail: "the engine is gone" };
    }
    if (reached === "deadline") return { kind: "failed", code: "execution_timeout", detail: "it ran for too long" };
    sink.head(HEAD);
    await sink.chunk(ANSWER);
    return SUCCEEDED;
  }

  alive({ instance }: Instance): Promise<boolean> {
    return Promise.resolve(this.#processors.has(instance));
  }

  /** Models on one device share its compute. */
  #computeOf(device: DeviceId): Compute {
    const compute = this.#gpus.get(device) ?? new Compute(this.#clock);
    this.#gpus.set(device, compute);
    return compute;
  }

  inspect = (): Promise<readonly Instance[]> => Promise.resolve([]);
  logs = (): Promise<readonly string[]> => Promise.resolve([]);

  async close(): Promise<void> {
    for (const processor of this.#processors.values()) processor.endAll("engine_gone");
    this.#processors.clear();
  }
}

/** What the timed engine reads; the same bytes tell the engine how long the job runs. */
export function bodyOfLength(workMs: number): Uint8Array {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, workMs);
  return new Uint8Array(view.buffer);
}

async function lengthOf(call: Call): Promise<number> {
  for await (const bytes of call.body()) return new DataView(bytes.buffer).getFloat64(bytes.byteOffset);
  return 0;
}
