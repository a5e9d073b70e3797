// From a stored body to what goes over the wire: the caller's bytes, with nothing changed but, where the configuration
// says so, the model's name.

import type { Call } from "../backends/backend.ts";
import type { Job } from "../domain/job.ts";
import type { ModelSpec } from "../domain/model.ts";
import { attemptSpanId, traceParentOf } from "../domain/trace-id.ts";
import type { Body } from "../store/store.ts";
import type { EngineWorld } from "./state.ts";

export function callOf(job: Job, body: Body, spec: ModelSpec, world: Pick<EngineWorld, "openBody">): Call {
  const rename = spec.upstreamName === null || body.modelSpan === null ? null : renamed(body, spec.upstreamName);
  return {
    endpoint: job.endpoint,
    contentType: body.contentType,
    headers: {
      ...body.headers,
      traceparent: childOf(job),
      ...(job.clientRequestId === null ? {} : { "x-client-request-id": job.clientRequestId }),
    },
    sizeBytes: rename === null ? body.sizeBytes : rename.sizeBytes,
    body: () => {
      const bytes = body.source.kind === "bytes" ? once(body.source.bytes) : world.openBody(body.source.uri);
      return rename === null ? bytes : splice(bytes, rename);
    },
    stream: job.stream,
    firstByteTimeoutMs: spec.firstByteTimeoutMs,
    idleTimeoutMs: spec.idleTimeoutMs,
    runTimeoutMs: spec.runTimeoutMs,
  };
}

interface Rename {
  readonly start: number;
  readonly end: number;
  readonly name: Uint8Array;
  readonly sizeBytes: number;
}

/** The name goes into a JSON string or a form field as it is, escaped for JSON; names without quotes need no escape. */
function renamed(body: Body, upstreamName: string): Rename | null {
  if (body.modelSpan === null) return null;
  const [start, end] = body.modelSpan;
  const json = body.contentType.includes("json");
  const name = new TextEncoder().encode(json ? JSON.stringify(upstreamName).slice(1, -1) : upstreamName);
  return { start, end, name, sizeBytes: body.sizeBytes - (end - start) + name.byteLength };
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  if (bytes.byteLength > 0) yield bytes;
}

/** Replaces [start, end) of the stream by the name, whatever the cuts between chunks. */
async function* splice(chunks: AsyncIterable<Uint8Array>, rename: Rename): AsyncGenerator<Uint8Array> {
  let at = 0;
  let written = false;
  for await (const chunk of chunks) {
    const end = at + chunk.byteLength;
    const before = chunk.subarray(0, Math.max(0, Math.min(chunk.byteLength, rename.start - at)));
    if (before.byteLength > 0) yield before;
    if (!written && end >= rename.start) {
      written = true;
      yield rename.name;
    }
    const after = chunk.subarray(Math.max(0, Math.min(chunk.byteLength, rename.end - at)));
    if (after.byteLength > 0) yield after;
    at = end;
  }
}

/** The attempt's own span under the caller's trace, or under a trace of the job's own. */
function childOf(job: Job): string {
  const { traceId, flags } = traceParentOf(job);
  return `00-${traceId}-${attemptSpanId(job, job.epoch)}-${flags}`;
}
