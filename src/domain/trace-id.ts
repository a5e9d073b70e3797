// Under which ids a job is known to tracing (W3C Trace Context). They follow from the job, so that the id which an engine
// was sent is the id of the span that is written after the job has ended.

import type { Job } from "./job.ts";

export interface TraceParent {
  /** 32 hex digits: the caller's trace, else one of the job's own. */
  readonly traceId: string;
  /** The caller's span; null: the job begins its trace. */
  readonly parentId: string | null;
  /** Two hex digits; the last bit says whether the trace is recorded. */
  readonly flags: string;
}

export function traceParentOf({ id, traceparent }: Pick<Job, "id" | "traceparent">): TraceParent {
  const [, traceId, parentId, flags] = traceparent?.split("-") ?? [];
  if (traceId === undefined || parentId === undefined) return { traceId: id.slice(4), parentId: null, flags: "01" };
  return { traceId, parentId, flags: flags ?? "01" };
}

export function isRecorded({ flags }: TraceParent): boolean {
  return (Number.parseInt(flags, 16) & 1) === 1;
}

/** The span of one attempt: what the engine gets as its parent. @param epoch The attempt's. */
export function attemptSpanId({ id }: Pick<Job, "id">, epoch: number): string {
  const mixed = BigInt(`0x${id.slice(-16)}`) ^ (BigInt(epoch) + 1n);
  return mixed.toString(16).padStart(16, "0").slice(-16);
}
