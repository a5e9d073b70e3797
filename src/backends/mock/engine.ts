// One mock engine: a model that was loaded, and the requests in flight on it. Its process lives until it is stopped or
// dies; then its connections are cut and every further one is refused.

import type { Clock } from "../../domain/clock.ts";
import type { Call, Instance, Outcome, Sink } from "../backend.ts";
import { planAnswer, type Voice } from "./endpoints.ts";
import type { RequestFault } from "./faults.ts";
import { Flight, type Pace, type Runway } from "./flight.ts";
import type { Label } from "./plan.ts";
import { type Compute, type EndReason, Processor } from "./processor.ts";
import { readRequest } from "./request.ts";

export interface EngineParts {
  readonly clock: Clock;
  readonly pace: Pace;
  readonly voice: Voice;
  readonly slowdownPerJob: number;
  /** Of the GPU it shares with others; absent: one of its own. */
  readonly compute?: Compute;
  /** Asked once for each request; `nth` counts since the load from 1. */
  fault(instance: Instance, nth: number, endpoint: string): RequestFault | null;
  label(): Label;
  /** The process died by itself. */
  died(): void;
}

export class MockEngine implements Runway {
  readonly instance: Instance;
  readonly clock: Clock;
  readonly pace: Pace;
  readonly processor: Processor;
  readonly #parts: EngineParts;
  #alive = true;
  #requests = 0;

  constructor(instance: Instance, parts: EngineParts) {
    this.instance = instance;
    this.clock = parts.clock;
    this.pace = parts.pace;
    this.processor = new Processor(parts.clock, parts.slowdownPerJob, parts.compute);
    this.#parts = parts;
  }

  get isAlive(): boolean {
    return this.#alive;
  }

  async run(call: Call, sink: Sink, signal: AbortSignal): Promise<Outcome> {
    if (signal.aborted) return { kind: "aborted" };
    if (!this.#alive) return { kind: "lost", detail: "connection refused" };
    const fault = this.#parts.fault(this.instance, ++this.#requests, call.endpoint);
    const share = this.processor.join(fault?.kind === "slow" ? fault.speed : 1);
    const stubborn = fault?.kind === "ignores_abort" || (fault?.kind === "hang" && fault.ignoresAbort === true);
    const abort = (): void => this.processor.end(share, "aborted");
    if (!stubborn) signal.addEventListener("abort", abort, { once: true });
    try {
      const flight = new Flight(this, share, call, sink, signal);
      const request = await readRequest(call);
      const plan = "kind" in request ? request : planAnswer(request, this.#parts.label(), this.#parts.voice);
      return await flight.run(plan, fault);
    } catch {
      return { kind: "failed", code: "backend_error", detail: "the request could not be read or its answer be taken" };
    } finally {
      signal.removeEventListener("abort", abort);
      this.processor.leave(share);
    }
  }

  /** The process dies: connections are cut, memory is free. */
  crash(): void {
    if (!this.#alive) return;
    this.end();
    this.#parts.died();
  }

  /** Stopped in order: the same without surprise. */
  end(): void {
    this.#alive = false;
    this.cutConnections("engine_gone");
  }

  /** `disconnected`: the router's own process died, so nobody is told anything. */
  cutConnections(reason: EndReason): void {
    this.processor.endAll(reason);
  }
}
