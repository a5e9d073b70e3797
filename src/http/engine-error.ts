// An engine's refusal in its own words, where they come too late to be the answer's status.

import type { ErrorFields } from "./error-body.ts";

const LIMIT_BYTES = 64 * 1024;

/** Collects a refusal's body, up to a bound. */
export class Refusal {
  readonly #chunks: Uint8Array[] = [];
  #bytes = 0;

  add(bytes: Uint8Array): void {
    this.#bytes += bytes.length;
    if (this.#bytes <= LIMIT_BYTES) this.#chunks.push(bytes);
  }

  /** The engine's error where it has OpenAI's shape, else `ours`. */
  error(ours: ErrorFields): ErrorFields {
    if (this.#bytes > LIMIT_BYTES) return ours;
    try {
      const body = JSON.parse(Buffer.concat(this.#chunks).toString()) as { error?: Record<string, unknown> };
      const said = body.error;
      if (typeof said?.["message"] !== "string") return ours;
      return {
        message: said["message"],
        type: wordOf(said["type"]) ?? ours.type,
        param: wordOf(said["param"]),
        code: wordOf(said["code"]) ?? ours.code,
      };
    } catch {
      return ours;
    }
  }
}

function wordOf(value: unknown): string | null {
  return typeof value === "string" ? value : typeof value === "number" ? String(value) : null;
}
