// The life of a job as it happens: server-sent events, taken up again where the connection broke.

import { ConnectionError, refusal } from "./errors.ts";
import { exchange, isTransient, Patience } from "./exchange.ts";
import { after, pause } from "./platform.ts";
import { type JobAddress, within } from "./submit.ts";
import { isFinal } from "./wait.ts";
import type { Receipt } from "./wire.ts";

export interface JobEvent {
  /** `queued`, `position`, `loading`, `started`, `completed`, `failed`, `cancelled`, `expired`, or one yet to come. */
  readonly event: string;
  /** Null where it cannot be resumed from. */
  readonly id: string | null;
  readonly receipt: Receipt;
}

export interface Reading {
  readonly signal: AbortSignal | undefined;
  readonly retrySeconds: number;
}

const HEAD_MS = 30_000;
/** The router says something every 15 s. */
const SILENCE_MS = 50_000;

/** From the job's state now to its end. Leaving the loop ends the reading, not the job. */
export async function* eventsOf(job: JobAddress, { signal, retrySeconds }: Reading): AsyncGenerator<JobEvent, void> {
  const patience = new Patience(retrySeconds);
  let lastId: string | null = null;
  for (;;) {
    let cause: unknown = "the stream ended before the job";
    try {
      for await (const event of connection(job, lastId, signal)) {
        patience.reset();
        // The first one after a break tells the state anew.
        if (event.id !== null && event.id === lastId) continue;
        lastId = event.id ?? lastId;
        yield event;
        if (isFinal(event.receipt.status)) return;
      }
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      if (!(error instanceof Broken)) throw error;
      cause = error.cause;
    }
    const waitMs = patience.next();
    if (waitMs === null) throw new ConnectionError("connection_failed", "The job's events could not be read.", cause);
    await pause(waitMs, signal);
  }
}

/** The connection failed, in whatever way: worth another try. */
class Broken extends Error {
  constructor(cause: unknown) {
    super("broken", { cause });
  }
}

async function* connection(job: JobAddress, lastId: string | null, signal: AbortSignal | undefined) {
  const headers = { ...(job.init.headers as Record<string, string>), accept: "text/event-stream" };
  const resume = lastId === null ? {} : { "last-event-id": lastId };
  const quiet = new AbortController();
  const init = { ...job.init, headers: { ...headers, ...resume }, signal: anyOf(signal, quiet.signal) };
  const { response } = await exchange(job.fetch, within(job.url, "events"), init, HEAD_MS, () => true).catch(
    (error) => {
      throw new Broken(error);
    },
  );
  if (!response.ok) {
    const error = refusal(response, await response.text());
    throw isTransient(response) ? new Broken(error) : error;
  }
  const reader = (response.body ?? new ReadableStream<Uint8Array>()).getReader();
  const parser = new EventParser();
  const decoder = new TextDecoder();
  try {
    for (;;) {
      const stop = after(SILENCE_MS, () => quiet.abort());
      const { done, value } = await reader
        .read()
        .finally(stop)
        .catch((error) => {
          throw new Broken(error);
        });
      if (done) return;
      yield* parser.push(decoder.decode(value, { stream: true }));
    }
  } finally {
    void reader.cancel().catch(() => undefined);
  }
}

function anyOf(signal: AbortSignal | undefined, own: AbortSignal): AbortSignal {
  return signal === undefined ? own : AbortSignal.any([signal, own]);
}

class EventParser {
  #rest = "";
  #event = "message";
  #id: string | null = null;
  #data: string[] = [];

  push(text: string): JobEvent[] {
    const lines = (this.#rest + text).split(/\r?\n/);
    this.#rest = lines.pop() ?? "";
    return lines.flatMap((line) => this.#line(line));
  }

  #line(line: string): JobEvent[] {
    if (line === "") return this.#flush();
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "event") this.#event = value;
    if (field === "id") this.#id = value;
    if (field === "data") this.#data.push(value);
    return [];
  }

  #flush(): JobEvent[] {
    const data = this.#data.join("\n");
    const event = { event: this.#event, id: this.#id };
    [this.#event, this.#id, this.#data] = ["message", null, []];
    return data === "" ? [] : [{ ...event, receipt: JSON.parse(data) as Receipt }];
  }
}
