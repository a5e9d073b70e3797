// The only file that knows the OpenTelemetry SDK; it is imported when traces are wanted, and not before. Where spans go,
// with which headers, and what the service is called, the SDK reads from its own OTEL_ variables.

import {
  type Context,
  type Link,
  ROOT_CONTEXT,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  trace,
} from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from "@opentelemetry/resources";
import {
  AlwaysOnSampler,
  BatchSpanProcessor,
  type IdGenerator,
  RandomIdGenerator,
  type SpanExporter,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import type { TraceParent } from "../domain/trace-id.ts";
import type { SpanDraft } from "./job-trace.ts";

/** Beyond it traces are dropped: a receiver that is away must not fill the router's memory. */
const QUEUE_SPANS = 4_096;
const BATCH_SPANS = 512;
const SEND_EVERY_MS = 2_000;
/** A send that hangs keeps the process from ending for as long: below the ten seconds that `docker stop` waits. */
const SEND_TIMEOUT_MS = 5_000;

export interface ExporterOptions {
  readonly version: string;
  readonly serviceName: string;
  /** After each send, and for what is not even queued. */
  count(outcome: "sent" | "failed" | "dropped", spans: number): void;
}

/** Ids that are given, else random ones. */
class GivenIds implements IdGenerator {
  readonly #random = new RandomIdGenerator();
  traceId: string | null = null;
  spanId: string | null = null;

  generateTraceId = (): string => this.traceId ?? this.#random.generateTraceId();

  generateSpanId = (): string => this.spanId ?? this.#random.generateSpanId();
}

export class TraceExporter {
  readonly #provider: TracerProvider;
  readonly #tracer;
  readonly #ids = new GivenIds();
  readonly #count: ExporterOptions["count"];
  /** Spans in the SDK's queue, which drops what is more than it holds without a word to anybody. */
  #queued = 0;

  constructor({ version, serviceName, count }: ExporterOptions) {
    this.#count = count;
    const named = resourceFromAttributes({ "service.name": serviceName, "service.version": version });
    const resource = defaultResource()
      .merge(named)
      .merge(detectResources({ detectors: [envDetector] }));
    const exporter = this.#counted(new OTLPTraceExporter({ timeoutMillis: SEND_TIMEOUT_MS }));
    const processor = new BatchSpanProcessor({
      exporter,
      maxQueueSize: QUEUE_SPANS,
      maxExportBatchSize: BATCH_SPANS,
      scheduledDelayMillis: SEND_EVERY_MS,
      exportTimeoutMillis: SEND_TIMEOUT_MS,
    });
    // Whether a trace is recorded is asked before anything is read for it.
    const sampler = new AlwaysOnSampler();
    this.#provider = new TracerProvider({ resource, sampler, spanProcessors: [processor], idGenerator: this.#ids });
    this.#tracer = this.#provider.getTracer("sir-router", version);
  }

  /**
   * A trace of a root and its children. The root's own parent is the caller's span where there is one.
   * Null: the queue has no room for all of it, and nothing of it is sent.
   * @param wallOffsetMs From router time to the wall clock.
   */
  write(
    [root, ...children]: readonly [SpanDraft, ...SpanDraft[]],
    under: TraceParent | null,
    wallOffsetMs: number,
    linkOf: (draft: SpanDraft) => SpanContext | null = () => null,
  ): SpanContext | null {
    const spans = 1 + children.length;
    if (this.#queued + spans > QUEUE_SPANS) {
      this.#count("dropped", spans);
      return null;
    }
    this.#queued += spans;
    const top = this.#span(root, parentOf(under), { traceId: under?.traceId ?? null, wallOffsetMs, link: null });
    const below = trace.setSpanContext(ROOT_CONTEXT, top);
    for (const child of children) this.#span(child, below, { traceId: null, wallOffsetMs, link: linkOf(child) });
    return top;
  }

  /** Sends what is left, for as long as the SDK's own limits allow. */
  close(): Promise<void> {
    return this.#provider.shutdown();
  }

  #counted(inner: SpanExporter): SpanExporter {
    return {
      export: (spans, done) => {
        this.#queued -= spans.length;
        inner.export(spans, (result) => {
          this.#count(result.code === 0 ? "sent" : "failed", spans.length);
          done(result);
        });
      },
      shutdown: () => inner.shutdown(),
      forceFlush: () => inner.forceFlush?.() ?? Promise.resolve(),
    };
  }

  #span(draft: SpanDraft, parent: Context, { traceId, wallOffsetMs, link }: Placing): SpanContext {
    this.#ids.traceId = traceId;
    this.#ids.spanId = draft.spanId;
    const links: Link[] = link === null ? [] : [{ context: link }];
    const span = this.#tracer.startSpan(
      draft.name,
      {
        kind: draft.client ? SpanKind.CLIENT : SpanKind.INTERNAL,
        startTime: wallTime(draft.fromMs, wallOffsetMs),
        attributes: draft.attributes,
        links,
      },
      parent,
    );
    if (draft.firstByteAtMs !== null) span.addEvent("first_byte", wallTime(draft.firstByteAtMs, wallOffsetMs));
    if (draft.error !== null) span.setStatus({ code: SpanStatusCode.ERROR, message: draft.error });
    span.end(wallTime(draft.toMs, wallOffsetMs));
    return span.spanContext();
  }
}

interface Placing {
  readonly traceId: string | null;
  readonly wallOffsetMs: number;
  readonly link: SpanContext | null;
}

/** Rounded apart, as the stretches of a life are: a Date cuts fractions off, and a wait would begin before its job. */
function wallTime(ms: number, offsetMs: number): Date {
  return new Date(Math.round(ms) + Math.round(offsetMs));
}

function parentOf(under: TraceParent | null): Context {
  if (under === null || under.parentId === null) return ROOT_CONTEXT;
  const { traceId, parentId, flags } = under;
  const traceFlags = Number.parseInt(flags, 16);
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId: parentId, traceFlags, isRemote: true });
}
