// A small JSON body of our own routes, read whole and parsed.

import { SirError } from "../domain/errors.ts";
import type { Call, HttpWorld } from "./deps.ts";
import { requestBody } from "./request-body.ts";

const LIMIT_BYTES = 64 * 1024;

/**
 * @param absent What an empty body stands for; without it an empty body is none.
 * @throws {SirError} body_too_large, invalid_json
 */
export async function readJson(c: Call, world: HttpWorld, absent?: object): Promise<unknown> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of requestBody(c, world.clock)) {
    bytes += chunk.length;
    if (bytes > LIMIT_BYTES) {
      throw new SirError("body_too_large", `The body is larger than the limit of ${LIMIT_BYTES} bytes.`);
    }
    chunks.push(chunk);
  }
  if (bytes === 0 && absent !== undefined) return absent;
  try {
    return JSON.parse(Buffer.concat(chunks).toString("utf8"));
  } catch {
    throw new SirError("invalid_json", "The body is not valid JSON.");
  }
}
