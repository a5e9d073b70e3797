// The engine's events as the router's own: counted from 0 without a gap behind the two that came before the engine, under
// the router's id, and in the order that clients insist on: `response.created` first.

import { owned } from "./echo.ts";
import { isRecord, type Json, textOf } from "./json.ts";

export interface Facts {
  readonly id: string;
  /** Unix seconds. */
  readonly createdAt: number;
  readonly echo: Json;
}

const FINAL = /^response\.(completed|incomplete|failed)$/;

export class OwnEvents {
  readonly #facts: Facts;
  #next = 0;
  #response: Json | null = null;

  constructor(facts: Facts) {
    this.#facts = facts;
  }

  /** The response of the last event that ends a stream; null as long as there was none. */
  get final(): Json | null {
    return this.#response;
  }

  get next(): number {
    return this.#next;
  }

  /** What is known before the engine has said anything. */
  opening(): Json[] {
    const response = owned(this.#facts.echo, { status: "queued" }, this.#facts);
    return [this.#event("response.created", { response }), this.#event("response.queued", { response })];
  }

  /** @param event The engine's; its own `created` and `queued` are ours already. */
  own(event: Json): Json[] {
    const type = textOf(event["type"]);
    if (type === "" || type === "response.created" || type === "response.queued") return [];
    const { type: _type, sequence_number: _number, response, ...rest } = event;
    if (!isRecord(response)) return [this.#event(type, rest)];
    const ours = owned(this.#facts.echo, response, this.#facts);
    if (FINAL.test(type)) this.#response = ours;
    return [this.#event(type, { ...rest, response: ours })];
  }

  /** The end in our own words. @param after Nothing up to here may be numbered again. */
  ended(response: Json, after: number): Json {
    this.#next = Math.max(this.#next, after + 1);
    return this.#event(`response.${textOf(response["status"])}`, { response });
  }

  #event(type: string, fields: Json): Json {
    return { type, sequence_number: this.#next++, ...fields };
  }
}

/** `event:` says the type; no `id:`, which breaks clients on these streams. */
export function frameOf(event: Json): Uint8Array {
  return Buffer.from(`event: ${textOf(event["type"])}\ndata: ${JSON.stringify(event)}\n\n`);
}
