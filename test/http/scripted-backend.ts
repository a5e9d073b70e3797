// An engine whose every byte the test decides. Loads take no time; each call waits until the test answers it.

import type { Backend, Call, Head, Instance, Outcome, Sink } from "../../src/backends/backend.ts";
import type { ModelName } from "../../src/domain/ids.ts";

export class ScriptedCall {
  readonly call: Call;
  readonly instance: Instance;
  readonly signal: AbortSignal;
  readonly body: Promise<Buffer>;
  readonly outcome: Promise<Outcome>;
  readonly #sink: Sink;
  #settle: (outcome: Outcome) => void = () => undefined;

  constructor(instance: Instance, call: Call, sink: Sink, signal: AbortSignal) {
    this.instance = instance;
    this.call = call;
    this.signal = signal;
    this.#sink = sink;
    this.body = readAll(call.body());
    this.outcome = new Promise((resolve) => {
      this.#settle = resolve;
    });
    signal.addEventListener("abort", () => this.#settle({ kind: "aborted" }), { once: true });
  }

  get aborted(): boolean {
    return this.signal.aborted;
  }

  head(status = 200, headers: Head["headers"] = { "content-type": "application/json" }): this {
    this.#sink.head({ status, headers });
    return this;
  }

  /** Server-sent events from now on. */
  stream(): this {
    return this.head(200, { "content-type": "text/event-stream; charset=utf-8" });
  }

  send(bytes: string | Uint8Array): Promise<void> | void {
    return this.#sink.chunk(typeof bytes === "string" ? Buffer.from(bytes) : bytes);
  }

  end(outcome: Outcome = { kind: "succeeded" }): void {
    this.#settle(outcome);
  }

  /** A whole answer at once. */
  answer(body: string | Uint8Array, status = 200, headers?: Head["headers"]): void {
    this.head(status, headers);
    void this.send(body);
    this.end({ kind: status < 400 ? "succeeded" : "refused" });
  }
}

export class ScriptedBackend implements Backend {
  readonly can = { loads: true, knowsMemory: true };
  readonly calls: ScriptedCall[] = [];
  /** What each call does, when the test does not answer calls one by one. */
  script: ((call: ScriptedCall) => void) | null = null;
  /** Load fails with this while set. */
  failLoads: Error | null = null;
  #waiting: ((call: ScriptedCall) => void)[] = [];
  #taken = 0;

  start(): Promise<{ endpoint: string }> {
    return this.failLoads === null ? Promise.resolve({ endpoint: "scripted" }) : Promise.reject(this.failLoads);
  }

  stop(): Promise<{ memory: "free" }> {
    return Promise.resolve({ memory: "free" });
  }

  async run(instance: Instance, call: Call, sink: Sink, signal: AbortSignal): Promise<Outcome> {
    const scripted = new ScriptedCall(instance, call, sink, signal);
    await scripted.body;
    this.calls.push(scripted);
    this.#waiting.shift()?.(scripted);
    this.script?.(scripted);
    return scripted.outcome;
  }

  /** The next call that has not been handed out, as soon as there is one. */
  next(): Promise<ScriptedCall> {
    const call = this.calls[this.#taken++];
    if (call !== undefined) return Promise.resolve(call);
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
    });
  }

  alive(): Promise<boolean> {
    return Promise.resolve(true);
  }

  inspect(): Promise<readonly Instance[]> {
    return Promise.resolve([]);
  }

  logs(_model: ModelName, lines: number): Promise<readonly string[]> {
    return Promise.resolve(["loading weights", "ready"].slice(-lines));
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

async function readAll(body: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks);
}
