// A streamed chat completion as the events of a streamed response: items open and close around their deltas, one after the
// other, and the last event holds the whole response.

import {
  callItem,
  messageItem,
  reasoningItem,
  reasoningOf,
  responseOf,
  type Spoken,
  startedOf,
  textPart,
} from "./from-chat.ts";
import { isRecord, type Json, recordsOf, textOf } from "./json.ts";

interface CallSoFar {
  id: string;
  name: string;
  args: string;
}
type Open = { readonly kind: "reasoning" | "text" | "refusal" } | { readonly kind: "call"; readonly n: number };

export class ChatEvents {
  readonly #request: Json;
  readonly #calls: CallSoFar[] = [];
  #id = "";
  #createdAt = 0;
  #reasoning = "";
  #text = "";
  #refusal = "";
  #finishReason: string | null = null;
  #usage: Json | null = null;
  #sequence = 0;
  /** Of the item that is open, or of the next one. */
  #index = 0;
  #open: Open | null = null;

  constructor(request: Json) {
    this.#request = request;
  }

  /** @param chunk One `chat.completion.chunk`. */
  push(chunk: Json): Json[] {
    const events: Json[] = [];
    if (this.#sequence === 0) {
      this.#id = textOf(chunk["id"]);
      this.#createdAt = Number(chunk["created"] ?? 0);
      const response = startedOf(this.#request, this.#spoken());
      events.push(this.#event("response.created", { response }), this.#event("response.in_progress", { response }));
    }
    if (isRecord(chunk["usage"])) this.#usage = chunk["usage"];
    const choice = recordsOf(chunk["choices"])[0];
    if (choice === undefined) return events;
    const delta = isRecord(choice["delta"]) ? choice["delta"] : {};
    events.push(...this.#said("reasoning", reasoningOf(delta)), ...this.#said("text", textOf(delta["content"])));
    events.push(...this.#said("refusal", textOf(delta["refusal"])));
    for (const call of recordsOf(delta["tool_calls"])) events.push(...this.#called(call));
    if (typeof choice["finish_reason"] === "string") this.#finishReason = choice["finish_reason"];
    return events;
  }

  /** After `[DONE]`. */
  end(): Json[] {
    const events = this.#sequence === 0 ? this.push({}) : [];
    if (this.#index === 0 && this.#open === null) events.push(...this.#opened({ kind: "text" }));
    events.push(...this.#closed());
    const response = responseOf(this.#request, this.#spoken());
    events.push(this.#event(`response.${textOf(response["status"])}`, { response }));
    return events;
  }

  #spoken(): Spoken {
    return {
      ...{ id: this.#id, createdAt: this.#createdAt, reasoning: this.#reasoning, text: this.#text },
      ...{ refusal: this.#refusal, calls: this.#calls, finishReason: this.#finishReason, usage: this.#usage },
    };
  }

  #event(type: string, fields: Json): Json {
    return { type, sequence_number: this.#sequence++, ...fields };
  }

  #said(kind: "reasoning" | "text" | "refusal", delta: string): Json[] {
    if (delta === "") return [];
    const events = this.#open?.kind === kind ? [] : [...this.#closed(), ...this.#opened({ kind })];
    if (kind === "reasoning") this.#reasoning += delta;
    else if (kind === "text") this.#text += delta;
    else this.#refusal += delta;
    const type = { reasoning: "reasoning_text", text: "output_text", refusal: "refusal" }[kind];
    const logprobs = kind === "text" ? { logprobs: [] } : {};
    events.push(this.#event(`response.${type}.delta`, { ...this.#part(kind), delta, ...logprobs }));
    return events;
  }

  #called(call: Json): Json[] {
    const n = typeof call["index"] === "number" ? call["index"] : Math.max(0, this.#calls.length - 1);
    const spec = isRecord(call["function"]) ? call["function"] : {};
    const events: Json[] = [];
    let soFar = this.#calls[n];
    if (soFar === undefined) {
      // Engines count from 0 without gaps; one that does not gets the next place.
      soFar = { id: textOf(call["id"]), name: textOf(spec["name"]), args: "" };
      events.push(...this.#closed());
      this.#calls.push(soFar);
      events.push(...this.#opened({ kind: "call", n: this.#calls.length - 1 }));
    } else if (soFar.name === "") soFar.name = textOf(spec["name"]);
    const delta = textOf(spec["arguments"]);
    if (delta === "") return events;
    soFar.args += delta;
    const at = { item_id: this.#itemId(), output_index: this.#index };
    events.push(this.#event("response.function_call_arguments.delta", { ...at, delta }));
    return events;
  }

  #opened(open: Open): Json[] {
    this.#open = open;
    const added = this.#event("response.output_item.added", {
      output_index: this.#index,
      item: this.#item("in_progress"),
    });
    if (open.kind === "call" || open.kind === "reasoning") return [added];
    const part = open.kind === "text" ? textPart("") : { type: "refusal", refusal: "" };
    return [added, this.#event("response.content_part.added", { ...this.#part(open.kind), part })];
  }

  #closed(): Json[] {
    const open = this.#open;
    if (open === null) return [];
    const events: Json[] = [];
    if (open.kind === "call") {
      const { args, name } = this.#calls[open.n] ?? { args: "", name: "" };
      const at = { item_id: this.#itemId(), output_index: this.#index };
      events.push(this.#event("response.function_call_arguments.done", { ...at, name, arguments: args }));
    } else {
      const part = this.#part(open.kind);
      const [text, refusal] = [this.#text, this.#refusal];
      if (open.kind === "reasoning") {
        events.push(this.#event("response.reasoning_text.done", { ...part, text: this.#reasoning }));
      } else if (open.kind === "text") {
        events.push(
          this.#event("response.output_text.done", { ...part, text, logprobs: [] }),
          this.#event("response.content_part.done", { ...part, part: textPart(text) }),
        );
      } else {
        events.push(
          this.#event("response.refusal.done", { ...part, refusal }),
          this.#event("response.content_part.done", { ...part, part: { type: "refusal", refusal } }),
        );
      }
    }
    const item = this.#item(this.#finishReason === "length" ? "incomplete" : "completed");
    events.push(this.#event("response.output_item.done", { output_index: this.#index, item }));
    this.#open = null;
    this.#index++;
    return events;
  }

  #item(status: string): Json {
    const open = this.#open ?? { kind: "text" as const };
    if (open.kind === "reasoning")
      return reasoningItem({ id: this.#id, reasoning: status === "in_progress" ? "" : this.#reasoning }, status);
    if (open.kind !== "call") return messageItem(this.#spoken(), status);
    const call = this.#calls[open.n] ?? { id: "", name: "", args: "" };
    return callItem(this.#id, open.n, call, status);
  }

  #itemId(): string {
    return textOf(this.#item("in_progress")["id"]);
  }

  #part(_kind: Open["kind"]): Json {
    return { item_id: this.#itemId(), output_index: this.#index, content_index: 0 };
  }
}
