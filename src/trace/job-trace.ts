// What a job's trace consists of: the job, one child for each stretch of its wait, one for each attempt. Pure. No request,
// answer or metadata is in it.

import { bandOf } from "../domain/band.ts";
import type { Job } from "../domain/job.ts";
import type { Stretch } from "../domain/life.ts";
import { attemptSpanId } from "../domain/trace-id.ts";
import type { Attempt } from "../store/store.ts";
import { NAME, operationOf, SPAN } from "./names.ts";

type Attributes = Readonly<Record<string, string | number>>;

/** Instants are router time in ms. */
export interface SpanDraft {
  readonly name: string;
  /** Null: a new one. */
  readonly spanId: string | null;
  readonly client: boolean;
  readonly fromMs: number;
  readonly toMs: number;
  readonly attributes: Attributes;
  /** Null: it went well. */
  readonly error: string | null;
  readonly firstByteAtMs: number | null;
  /** Of a stretch of loading: the device, by which its load is found. */
  readonly loadOn: string | null;
}

export interface Usage {
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
}

interface Traced {
  readonly job: Job;
  readonly stretches: readonly Stretch[];
  readonly attempts: readonly Attempt[];
  /** What serves the model, as the configuration calls its driver. */
  readonly provider: string;
  readonly usage: Usage | null;
}

/** A trace is read by people: a life of very many stretches is told by its longest. */
const STRETCHES_MAX = 100;
const FELL_SHORT: ReadonlySet<string> = new Set(["failed", "refused", "busy", "lost", "interrupted"]);

/** The first is the job, and the parent of all others. */
export function jobTrace(traced: Traced): [root: SpanDraft, ...children: SpanDraft[]] {
  return [
    rootOf(traced),
    ...waitsOf(traced.stretches),
    ...traced.attempts.map((attempt) => attemptOf(traced, attempt)),
  ];
}

const plain = { spanId: null, client: false, error: null, firstByteAtMs: null, loadOn: null } as const;

function rootOf({ job }: Traced): SpanDraft {
  const { state } = job;
  const toMs = "finishedAtMs" in state ? state.finishedAtMs : job.acceptedAtMs;
  const error = state.status === "failed" ? state.error.code : state.status === "expired" ? "expired" : null;
  return {
    ...plain,
    name: SPAN.job,
    fromMs: job.acceptedAtMs,
    toMs,
    error,
    attributes: {
      [NAME.job]: job.id,
      [NAME.status]: state.status,
      [NAME.model]: job.model,
      [NAME.band]: bandOf(job.priority),
      [NAME.priority]: job.priority,
      [NAME.caller]: job.caller,
      [NAME.attempts]: job.attempts,
      ...(error === null ? {} : { [NAME.errorType]: error }),
    },
  };
}

function waitsOf(stretches: readonly Stretch[]): SpanDraft[] {
  const waits = stretches.filter(({ cause }) => cause !== "running" && cause !== "lost_attempt");
  const longest = waits.toSorted((a, b) => b.toMs - b.fromMs - (a.toMs - a.fromMs)).slice(0, STRETCHES_MAX);
  const shown = new Set(longest);
  return waits
    .filter((each) => shown.has(each))
    .map(({ cause, rule, by, device, decision, fromMs, toMs }) => ({
      ...plain,
      name: SPAN.wait,
      ...{ fromMs, toMs },
      loadOn: cause === "loading" ? device : null,
      attributes: {
        [NAME.cause]: cause,
        ...(rule === null ? {} : { [NAME.rule]: rule }),
        ...(by === null ? {} : { [NAME.by]: by }),
        ...(device === null ? {} : { [NAME.device]: device }),
        ...(decision === null ? {} : { [NAME.decision]: decision }),
      },
    }));
}

function attemptOf({ job, provider, usage, attempts }: Traced, each: Attempt): SpanDraft {
  const operation = operationOf(job.endpoint);
  const outcome = each.outcome ?? "running";
  const error = FELL_SHORT.has(outcome) ? outcome : null;
  const last = each === attempts.at(-1);
  return {
    ...plain,
    name: `${operation} ${job.model}`,
    spanId: attemptSpanId(job, each.epoch),
    client: true,
    fromMs: each.startedAtMs,
    toMs: Math.max(each.startedAtMs, each.endedAtMs ?? each.startedAtMs),
    error,
    firstByteAtMs: each.firstByteAtMs,
    attributes: {
      [NAME.operation]: operation,
      [NAME.provider]: provider,
      [NAME.requestModel]: job.model,
      [NAME.attempt]: each.attempt,
      [NAME.outcome]: outcome,
      ...(error === null ? {} : { [NAME.errorType]: error }),
      ...(last ? tokensOf(usage) : {}),
    },
  };
}

function tokensOf(usage: Usage | null): Attributes {
  return {
    ...(usage?.inputTokens == null ? {} : { [NAME.inputTokens]: usage.inputTokens }),
    ...(usage?.outputTokens == null ? {} : { [NAME.outputTokens]: usage.outputTokens }),
  };
}
