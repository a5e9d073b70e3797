// One request in a mock engine: plays a plan against the clock, with timeouts, back-pressure and the fault it was given.

import type { Clock } from "../../domain/clock.ts";
import type { Call, Outcome, Sink } from "../backend.ts";
import { type AnswerWatch, watchAnswer } from "../stream-end.ts";
import type { RequestFault } from "./faults.ts";
import { data, type Plan, type StreamPlan, type WholePlan } from "./plan.ts";
import type { Processor, Share } from "./processor.ts";

export interface Pace {
  readonly firstTokenMs: number;
  readonly tokenMs: number;
}

/** What a flight needs of its engine. */
export interface Runway {
  readonly clock: Clock;
  readonly processor: Processor;
  readonly pace: Pace;
  /** The engine's process dies, with everything in flight. */
  crash(): void;
}

type LateFault = Extract<RequestFault, { readonly afterTokens: number }>;

const JSON_TYPE = "application/json";
const STREAM_TYPE = "text/event-stream; charset=utf-8";
const SUCCEEDED: Outcome = { kind: "succeeded" };
const ABORTED: Outcome = { kind: "aborted" };
const failed = (detail: string): Outcome => ({ kind: "failed", code: "backend_error", detail });

/** Thrown inside a flight to end it; never leaves `run`. */
class Landed extends Error {
  readonly outcome: Outcome;

  constructor(outcome: Outcome) {
    super(outcome.kind);
    this.outcome = outcome;
  }
}

export class Flight {
  readonly #runway: Runway;
  readonly #share: Share;
  readonly #call: Call;
  readonly #sink: Sink;
  readonly #signal: AbortSignal;
  readonly #startMs: number;
  /** Of the answer's last byte; null before the first. */
  #lastByteMs: number | null = null;
  #answered = false;
  #watch: AnswerWatch | null = null;

  constructor(runway: Runway, share: Share, call: Call, sink: Sink, signal: AbortSignal) {
    this.#signal = signal;
    this.#runway = runway;
    this.#share = share;
    this.#call = call;
    this.#sink = sink;
    this.#startMs = runway.clock.nowMs();
  }

  /** Never rejects, unless the sink does. */
  async run(plan: Plan, fault: RequestFault | null): Promise<Outcome> {
    let outcome: Outcome;
    try {
      outcome = await this.#fly(plan, fault);
    } catch (error) {
      if (!(error instanceof Landed)) throw error;
      outcome = error.outcome;
    }
    return this.#signal.aborted ? ABORTED : outcome;
  }

  async #fly(plan: Plan, fault: RequestFault | null): Promise<Outcome> {
    if (fault?.kind === "status") return this.#refuse(fault);
    if (plan.kind === "refusal") return this.#answer(plan.status, JSON_TYPE, plan.body);
    if (fault?.kind === "garbage") return this.#garbage(plan);
    return plan.kind === "whole" ? this.#whole(plan, fault) : this.#stream(plan, fault);
  }

  async #whole(plan: WholePlan, fault: RequestFault | null): Promise<Outcome> {
    if (fault !== null && "afterTokens" in fault) {
      await this.#tokens(Math.min(fault.afterTokens, plan.tokens));
      if (fault.kind === "in_band_error") return this.#answer(200, JSON_TYPE, ERROR_BODY);
      if (fault.kind === "cut" && fault.afterTokens > 0) this.#head(200, plan.contentType);
      return this.#break(fault);
    }
    await this.#tokens(plan.tokens);
    return this.#answer(200, plan.contentType, plan.body());
  }

  async #stream(plan: StreamPlan, fault: RequestFault | null): Promise<Outcome> {
    const late = fault !== null && "afterTokens" in fault ? fault : null;
    const breakAt = Math.min(late?.afterTokens ?? plan.tokens, plan.tokens);
    await this.#tokens(0);
    if (late !== null && late.kind !== "in_band_error" && breakAt === 0) return this.#break(late);
    this.#head(200, STREAM_TYPE);
    if (plan.open !== "") await this.#write(plan.open);
    for (let i = 0; i < breakAt; i++) {
      await this.#tokens(i);
      await this.#write(plan.token(i));
    }
    await this.#tokens(breakAt);
    if (late !== null) return this.#break(late);
    await this.#write(fault?.kind === "no_terminator" ? plan.close : plan.close + plan.terminator);
    return this.#judge();
  }

  async #break(fault: LateFault): Promise<Outcome> {
    if (fault.kind === "hang") await this.#reach(Number.POSITIVE_INFINITY);
    if (fault.kind === "in_band_error") {
      await this.#write(ERROR_EVENT);
      return this.#judge();
    }
    if (fault.kind === "die") this.#runway.crash();
    return this.#cutOff();
  }

  #cutOff(): Outcome {
    if (!this.#answered) return { kind: "lost", detail: "the engine closed the connection before it answered" };
    return failed("the engine closed the connection in the middle of its answer");
  }

  async #refuse(fault: Extract<RequestFault, { kind: "status" }>): Promise<Outcome> {
    const { pace } = this.#runway;
    await this.#reach(fault.afterMs ?? (fault.status >= 500 ? pace.firstTokenMs : 0));
    const detail = `the engine answered ${fault.status}`;
    if (fault.status === 429 || fault.status === 503) {
      return { kind: "busy", retryAfterMs: fault.retryAfterMs ?? null, detail };
    }
    if (fault.status >= 500 || (fault.status >= 300 && fault.status < 400)) return failed(detail);
    return this.#answer(fault.status, fault.contentType ?? JSON_TYPE, fault.body ?? ERROR_BODY);
  }

  async #garbage(plan: WholePlan | StreamPlan): Promise<Outcome> {
    await this.#tokens(plan.tokens);
    const contentType = plan.kind === "stream" ? STREAM_TYPE : plan.contentType;
    return this.#answer(200, contentType, Uint8Array.of(0xff, 0x00, 0x7b, 0x80, 0xc3, 0x28));
  }

  async #answer(status: number, contentType: string, body: string | Uint8Array): Promise<Outcome> {
    this.#head(status, contentType);
    await this.#write(body);
    return status < 300 ? this.#judge() : { kind: "refused" };
  }

  #judge(): Outcome {
    const wrong = this.#watch?.verdict() ?? null;
    return wrong === null ? SUCCEEDED : failed(wrong);
  }

  #head(status: number, contentType: string): void {
    this.#answered = true;
    if (this.#signal.aborted) return;
    this.#watch = watchAnswer(this.#call.endpoint, contentType);
    this.#sink.head({ status, headers: { "content-type": contentType } });
  }

  async #write(body: string | Uint8Array): Promise<void> {
    if (this.#signal.aborted) return;
    const bytes = typeof body === "string" ? Buffer.from(body) : body;
    this.#watch?.push(bytes);
    const room = this.#sink.chunk(bytes);
    if (room !== undefined) {
      const stuck = this.#reach(Number.POSITIVE_INFINITY, this.#startMs + this.#call.runTimeoutMs);
      await Promise.race([room, stuck]);
      this.#runway.processor.forget(this.#share);
    }
    this.#lastByteMs = this.#runway.clock.nowMs();
  }

  /** Until so many tokens are generated. */
  #tokens(count: number): Promise<void> {
    const { firstTokenMs, tokenMs } = this.#runway.pace;
    return this.#reach(firstTokenMs + count * tokenMs);
  }

  async #reach(workMs: number, deadlineAtMs = this.#deadlineMs()): Promise<void> {
    const reached = await this.#runway.processor.reach(this.#share, workMs, deadlineAtMs);
    if (reached === "reached") return;
    if (reached === "ended") throw new Landed(this.#share.reason === "engine_gone" ? this.#cutOff() : ABORTED);
    throw new Landed({ kind: "failed", code: "execution_timeout", detail: this.#overdue() });
  }

  #deadlineMs(): number {
    const { firstByteTimeoutMs, idleTimeoutMs, runTimeoutMs } = this.#call;
    const silentUntilMs =
      this.#lastByteMs === null ? this.#startMs + firstByteTimeoutMs : this.#lastByteMs + idleTimeoutMs;
    return Math.min(silentUntilMs, this.#startMs + runTimeoutMs);
  }

  #overdue(): string {
    const { firstByteTimeoutMs, idleTimeoutMs, runTimeoutMs } = this.#call;
    if (this.#runway.clock.nowMs() >= this.#startMs + runTimeoutMs)
      return `not finished after ${runTimeoutMs / 1000} s`;
    if (this.#lastByteMs === null) return `no byte of an answer after ${firstByteTimeoutMs / 1000} s`;
    return `no further byte for ${idleTimeoutMs / 1000} s`;
  }
}

const ERROR = { error: { message: "The mock engine failed.", type: "server_error", param: null, code: null } };
const ERROR_BODY = JSON.stringify(ERROR);
const ERROR_EVENT = data(ERROR);
