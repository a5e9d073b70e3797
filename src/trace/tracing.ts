// Traces of jobs, written once each has ended, from what the store has of it. Nothing here is in a job's way: what cannot
// be read, kept or sent in time is dropped and counted.

import type { Clock, Timer } from "../domain/clock.ts";
import type { RouterEvent } from "../domain/event.ts";
import type { JobId } from "../domain/ids.ts";
import type { Job } from "../domain/job.ts";
import type { Span } from "../domain/life.ts";
import { splitLife } from "../domain/partition.ts";
import { isRecorded, traceParentOf } from "../domain/trace-id.ts";
import type { Store } from "../store/store.ts";
import type { TraceExporter } from "./exporter.ts";
import { jobTrace, type SpanDraft } from "./job-trace.ts";
import { NAME, SPAN } from "./names.ts";
import { usageIn } from "./usage.ts";

type Environment = Readonly<Record<string, string | undefined>>;
type Ended = Extract<RouterEvent, { readonly type: "load.finished" }>;
type LinkTo = NonNullable<ReturnType<TraceExporter["write"]>>;

/** Records ride in the commit after the end. */
const SETTLE_MS = 1_000;
/** How many jobs may wait to be written. */
const WAITING_MAX = 2_000;
/** So many at once, and so often: one takes up to a millisecond of the router's only thread. */
const TURN_MAX = 10;
const TURN_EVERY_MS = 100;
const LOADS_KEPT = 64;
const LAST_WORDS_MS = 2_000;
const QUIET_MS = 60_000;

export interface TracingDeps {
  readonly environment: Environment;
  readonly clock: Clock;
  readonly store: Pick<Store, "job" | "attempts" | "waits" | "result"> & {
    downtimes(fromMs: number, toMs: number): Promise<readonly Span[]>;
  };
  readonly version: string;
  /** The driver of a model. */
  providerOf(model: string): string;
  /** `dropped`: they were never sent. */
  count(outcome: "sent" | "failed" | "dropped", spans: number): void;
  /** At most once a minute. */
  warn(text: string): void;
}

/** Whether the environment asks for traces. */
export function wantsTraces(environment: Environment): boolean {
  if (environment["OTEL_SDK_DISABLED"]?.toLowerCase() === "true") return false;
  if (environment["OTEL_TRACES_EXPORTER"]?.toLowerCase() === "none") return false;
  const set = environment["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"] || environment["OTEL_EXPORTER_OTLP_ENDPOINT"];
  return set !== undefined && set !== "";
}

/** Null: none are wanted, and nothing is imported; or their settings are wrong, which is no reason not to serve. */
export async function openTracing(deps: TracingDeps): Promise<Tracing | null> {
  if (!wantsTraces(deps.environment)) return null;
  const serviceName = deps.environment["OTEL_SERVICE_NAME"] || "sir-router";
  try {
    const { TraceExporter } = await import("./exporter.ts");
    return new Tracing(deps, (count) => new TraceExporter({ version: deps.version, serviceName, count }));
  } catch (error) {
    deps.warn(`There will be no traces: ${error instanceof Error ? error.message : error}`);
    return null;
  }
}

export class Tracing {
  readonly #deps: TracingDeps;
  readonly #exporter: TraceExporter;
  readonly #waiting: { readonly id: JobId; readonly fromMs: number }[] = [];
  readonly #loads: (Span & { readonly model: string; readonly device: string; readonly context: LinkTo })[] = [];
  #timer: Timer | null = null;
  #busy: Promise<void> = Promise.resolve();
  #quietUntilMs = Number.NEGATIVE_INFINITY;

  constructor(deps: TracingDeps, open: (count: TracingDeps["count"]) => TraceExporter) {
    this.#deps = deps;
    this.#exporter = open((outcome, spans) => {
      deps.count(outcome, spans);
      if (outcome !== "sent")
        this.#warn("Traces could not be sent; jobs are not affected. See OTEL_EXPORTER_OTLP_ENDPOINT.");
    });
  }

  listen(event: RouterEvent): void {
    if (event.type === "load.finished") this.#load(event);
    if (event.type !== "job.finished") return;
    if (this.#waiting.length >= WAITING_MAX) {
      this.#deps.count("dropped", 1);
      this.#warn("More jobs end than can be traced; some are left out.");
      return;
    }
    this.#waiting.push({ id: event.job, fromMs: this.#deps.clock.nowMs() });
    this.#rest();
  }

  /** Writes and sends what is there, within two seconds. */
  async close(): Promise<void> {
    this.#timer?.cancel();
    this.#timer = null;
    const { clock } = this.#deps;
    const late = new Promise<void>((resolve) => void clock.at(clock.nowMs() + LAST_WORDS_MS, resolve));
    const rest = this.#busy.then(() => this.#write(this.#waiting.splice(0))).then(() => this.#exporter.close());
    await Promise.race([rest.catch(() => undefined), late]);
  }

  #rest(): void {
    const [next] = this.#waiting;
    if (next === undefined || this.#timer !== null) return;
    const { clock } = this.#deps;
    this.#timer = clock.at(Math.max(next.fromMs + SETTLE_MS, clock.nowMs() + TURN_EVERY_MS), () => this.#turn());
  }

  #turn(): void {
    const untilMs = this.#deps.clock.nowMs() - SETTLE_MS;
    const due = this.#waiting.findIndex(({ fromMs }) => fromMs > untilMs);
    const batch = this.#waiting.splice(0, Math.min(TURN_MAX, due < 0 ? this.#waiting.length : due));
    this.#busy = this.#write(batch).finally(() => {
      this.#timer = null;
      this.#rest();
    });
  }

  async #write(batch: readonly { readonly id: JobId }[]): Promise<void> {
    for (const { id } of batch) {
      try {
        const job = await this.#deps.store.job(id);
        if (job !== null && isRecorded(traceParentOf(job))) await this.#job(job);
      } catch {
        this.#deps.count("dropped", 1);
        this.#warn("A job's trace could not be read from the store.");
      }
    }
  }

  async #job(job: Job): Promise<void> {
    const { store, clock, providerOf } = this.#deps;
    const { acceptedAtMs, model } = job;
    const toMs = "finishedAtMs" in job.state ? job.state.finishedAtMs : clock.nowMs();
    const [attempts, waits, downtimes] = await Promise.all([
      store.attempts(job.id),
      store.waits(model, acceptedAtMs, toMs),
      store.downtimes(acceptedAtMs, toMs),
    ]);
    const { stretches } = splitLife({ job, nowMs: toMs, attempts, waits, downtimes });
    const result = job.durable && job.state.status === "succeeded" ? await store.result(job.id) : null;
    const usage = result === null ? null : usageIn(result.body);
    const drafts = jobTrace({ job, stretches, attempts, provider: providerOf(model), usage });
    const linkOf = (draft: SpanDraft): LinkTo | null => this.#loadOf(model, draft);
    this.#exporter.write(drafts, traceParentOf(job), job.createdAtMs - acceptedAtMs, linkOf);
  }

  /** A trace of its own: many jobs may have waited for it. */
  #load({ model, device, outcome, tookMs }: Ended): void {
    const { clock } = this.#deps;
    const toMs = clock.nowMs();
    const span = { fromMs: toMs - tookMs, toMs };
    const draft: SpanDraft = {
      ...{ name: SPAN.load, spanId: null, client: false, ...span, firstByteAtMs: null, loadOn: null },
      error: outcome === "failed" || outcome === "timeout" ? outcome : null,
      attributes: { [NAME.model]: model, [NAME.device]: device, [NAME.loadOutcome]: outcome },
    };
    const context = this.#exporter.write([draft], null, clock.wallMs() - toMs);
    if (context === null) return;
    this.#loads.push({ ...span, model, device, context });
    if (this.#loads.length > LOADS_KEPT) this.#loads.shift();
  }

  #loadOf(model: string, { loadOn, fromMs, toMs }: SpanDraft): LinkTo | null {
    const found = this.#loads.findLast(
      (load) => load.model === model && load.device === loadOn && load.fromMs < toMs && load.toMs > fromMs,
    );
    return found?.context ?? null;
  }

  #warn(text: string): void {
    const nowMs = this.#deps.clock.nowMs();
    if (nowMs < this.#quietUntilMs) return;
    this.#quietUntilMs = nowMs + QUIET_MS;
    this.#deps.warn(text);
  }
}
