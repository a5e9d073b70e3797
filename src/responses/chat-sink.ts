// Takes an engine's chat completion and passes on the response that says the same, whole or event by event.

import { ChatEvents } from "./chat-events.ts";
import { EventReader } from "./event-reader.ts";
import { fromChat } from "./from-chat.ts";
import { type Json, parseRecord } from "./json.ts";
import { frameOf } from "./own-events.ts";

interface Head {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
}

/** Where an answer goes, as drivers have it. */
export interface Taker {
  head(head: Head): void;
  chunk(bytes: Uint8Array): Promise<void> | void;
}

export class ChatSink implements Taker {
  readonly #request: Json;
  readonly #to: Taker;
  readonly #reader = new EventReader();
  readonly #events: ChatEvents;
  #mode: "none" | "refusal" | "whole" | "stream" = "none";
  #whole: Uint8Array[] = [];
  #status = 0;

  /** @param request What the response repeats of its request. */
  constructor(request: Json, to: Taker) {
    this.#request = request;
    this.#to = to;
    this.#events = new ChatEvents(request);
  }

  get status(): number {
    return this.#status;
  }

  head(head: Head): void {
    this.#status = head.status;
    if (head.status >= 400) {
      this.#mode = "refusal";
      this.#to.head(head);
      return;
    }
    const streams = (head.headers["content-type"] ?? "").toLowerCase().startsWith("text/event-stream");
    this.#mode = streams ? "stream" : "whole";
    const type = streams ? "text/event-stream; charset=utf-8" : "application/json";
    this.#to.head({ status: 200, headers: { "content-type": type } });
  }

  chunk(bytes: Uint8Array): Promise<void> | void {
    if (this.#mode === "refusal") return this.#to.chunk(bytes);
    if (this.#mode === "whole") {
      this.#whole.push(bytes);
      return;
    }
    return this.#pass(this.#reader.push(bytes).flatMap((chunk) => this.#events.push(chunk)));
  }

  /** After a good end of the engine's. False: it was no chat completion. */
  async end(): Promise<boolean> {
    if (this.#mode === "stream") {
      const rest = this.#reader.end().flatMap((chunk) => this.#events.push(chunk));
      await this.#pass([...rest, ...this.#events.end()]);
      return true;
    }
    const completion = parseRecord(Buffer.concat(this.#whole));
    const response = completion === null ? null : fromChat(this.#request, completion);
    if (response === null) return false;
    await this.#to.chunk(Buffer.from(JSON.stringify(response)));
    return true;
  }

  #pass(events: readonly Json[]): Promise<void> | void {
    if (events.length > 0) return this.#to.chunk(Buffer.concat(events.map(frameOf)));
  }
}
