// The life of a job as it happens: server-sent events, taken up again where the connection broke.

import { refusal } from "./errors.ts";
import { either, type Signal } from "./exchange.ts";
import { after, jittered, pause } from "./platform.ts";
import { askJob, type JobAddress } from "./submit.ts";
import { isFinal } from "./wait.ts";
import type { Receipt } from "./wire.ts";

export interface JobEvent {
  /** `queued`, `position`, `loading`, `started`, `completed`, `failed`, `cancelled`, `expired`, or one yet to come. */
  readonly event: string;
  /** Null where it cannot be resumed from. */
  readonly id: string | null;
  readonly receipt: Receipt;
}

/** The router says something every 15 s. */
const SILENCE_MS = 50_000;
const AGAIN_MS = 500;

/** From the job's state now to its end. Leaving the loop ends the reading, not the job. */
export async function* eventsOf(job: JobAddress, signal: Signal): AsyncGenerator<JobEvent, void> {
  for (let lastId: string | undefined; ; ) {
    const quiet = new AbortController();
    const until = either(signal, quiet.signal);
    const headers = lastId === undefined ? {} : { "last-event-id": lastId };
    const { response, text } = await askJob(job, "/events", { headers, signal: until, keeps: ({ ok }) => ok });
    if (!response.ok) throw refusal(response, text);
    try {
      for await (const event of framesOf(response, () => quiet.abort())) {
        const over = isFinal(event.receipt.status);
        // The first one after a break tells the state anew, and may be ahead of its id.
        if (event.id !== null && event.id === lastId && !over) continue;
        lastId = event.id ?? lastId;
        yield event;
        if (over) return;
      }
    } catch {
      signal?.throwIfAborted();
    } finally {
      quiet.abort();
    }
    await pause(jittered(AGAIN_MS), signal);
  }
}

async function* framesOf({ body }: Response, giveUp: () => void): AsyncGenerator<JobEvent, void> {
  const reader = (body ?? new ReadableStream<Uint8Array>()).getReader();
  const decoder = new TextDecoder();
  for (let rest = ""; ; ) {
    const stop = after(SILENCE_MS, giveUp);
    const { done, value } = await reader.read().finally(stop);
    if (done) return;
    const blocks = (rest + decoder.decode(value, { stream: true })).split(/\r?\n\r?\n/);
    rest = blocks.pop() ?? "";
    for (const block of blocks) yield* frameIn(block);
  }
}

/** One event, or none in a comment. */
function frameIn(block: string): JobEvent[] {
  const lines = block.split(/\r?\n/);
  const values = (name: string): string[] =>
    lines.flatMap((line) => (line.startsWith(`${name}:`) ? [line.slice(name.length + 1).replace(/^ /, "")] : []));
  const data = values("data").join("\n");
  const [event = "message"] = values("event");
  return data === "" ? [] : [{ event, id: values("id")[0] ?? null, receipt: JSON.parse(data) as Receipt }];
}
