// One look at a background response's request: what of it is refused, what its response repeats, and the chat completion
// that asks the same.

import { echoOf } from "./echo.ts";
import { refuse, Untranslatable } from "./fault.ts";
import { isRecord, type Json, parseRecord } from "./json.ts";
import { toChat } from "./to-chat.ts";

interface Fault {
  readonly param: string;
  readonly message: string;
}

export interface Examined {
  /** What the response repeats of its request. */
  readonly echo: Json;
  /** Why no engine can be asked this in the background; null: nothing is in the way. */
  readonly fault: Fault | null;
  /** Why it cannot be asked of an engine that only has chat completions. */
  readonly chatFault: Fault | null;
  /** The chat completion's body, when there is one. */
  readonly chat: Uint8Array | null;
}

const METADATA_PAIRS = 16;

/** @param bytes JSON, checked already. */
export function examine(bytes: Uint8Array): Examined {
  const request = parseRecord(bytes) ?? {};
  const fault = faultOf(() => checkBackground(request));
  let chat: Uint8Array | null = null;
  const chatFault = faultOf(() => {
    chat = Buffer.from(JSON.stringify(toChat(request)));
  });
  return { echo: echoOf(request), fault, chatFault, chat };
}

function faultOf(check: () => void): Fault | null {
  try {
    check();
    return null;
  } catch (error) {
    if (!(error instanceof Untranslatable)) throw error;
    return { param: error.param, message: error.message };
  }
}

function checkBackground(request: Json): void {
  if (request["store"] === false) {
    refuse(
      "store",
      "must not be false with background: a background response is kept until it is read or its time is over.",
    );
  }
  for (const name of ["previous_response_id", "conversation"]) {
    if (request[name] === undefined || request[name] === null) continue;
    refuse(name, 'is not served for background responses: send the earlier turns in "input".');
  }
  checkMetadata(request["metadata"]);
}

function checkMetadata(metadata: unknown): void {
  if (metadata === undefined || metadata === null) return;
  if (!isRecord(metadata)) refuse("metadata", "must be an object of strings.");
  const pairs = Object.entries(metadata);
  if (pairs.length > METADATA_PAIRS) refuse("metadata", `must have at most ${METADATA_PAIRS} pairs.`);
  for (const [key, value] of pairs) {
    const fits = key.length <= 64 && typeof value === "string" && value.length <= 512;
    if (!fits) refuse("metadata", "must have keys of at most 64 and string values of at most 512 characters.");
  }
}
