// Reads server-sent events that hold JSON, however their bytes are cut. Comments, ids and `[DONE]` are skipped.

import { type Json, parseRecord } from "./json.ts";

export class EventReader {
  readonly #decoder = new TextDecoder();
  #rest = "";
  #data: string[] = [];

  /** The events that are complete now. */
  push(bytes: Uint8Array): Json[] {
    return this.#read(this.#decoder.decode(bytes, { stream: true }));
  }

  /** What stood at the end without a blank line. */
  end(): Json[] {
    return this.#read(`${this.#decoder.decode()}\n\n`);
  }

  #read(text: string): Json[] {
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop() ?? "";
    const events: Json[] = [];
    for (const raw of lines) {
      const line = raw.endsWith("\r") ? raw.slice(0, -1) : raw;
      if (line.startsWith("data:")) this.#data.push(line.slice(line[5] === " " ? 6 : 5));
      if (line !== "" || this.#data.length === 0) continue;
      const event = parseRecord(this.#data.join("\n"));
      this.#data = [];
      if (event !== null) events.push(event);
    }
    return events;
  }
}
