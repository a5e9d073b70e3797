// A background response on one slot: asked of the engine's own Responses endpoint, and of its chat completions where it has
// none. Which it has is configured, or learned from the first answer.

import type { Backend, Call, Head, Instance, Outcome, Sink } from "../backends/backend.ts";
import type { ModelName } from "../domain/ids.ts";
import type { ModelSpec } from "../domain/model.ts";
import { ChatSink } from "../responses/chat-sink.ts";
import { readRequest } from "../responses/reading.ts";

const CHAT = "/v1/chat/completions";
/** Of an answer that may mean a missing endpoint as much is read. */
const REFUSAL_BYTES = 64 * 1024;
/** A 404 that speaks of one of these is about the request; any other is about the endpoint. */
const ABOUT_REQUEST = /\b(?:model|response)\b/i;

/** Models whose engine was found to have no Responses endpoint. */
export type ChatOnly = Set<ModelName>;

export function speaksChatOnly(spec: ModelSpec, learned: ReadonlySet<ModelName>): boolean {
  return spec.responses === "chat" || (spec.responses !== "native" && learned.has(spec.name));
}

interface Respond {
  readonly backend: Pick<Backend, "run">;
  readonly instance: Instance;
  readonly spec: ModelSpec;
  readonly learned: ChatOnly;
  /** The call as it stands; its body can be read once, so each use makes it anew. */
  makeCall(): Call;
}

export async function respond(to: Respond, sink: Sink, signal: AbortSignal): Promise<Outcome> {
  const { backend, instance, spec, learned } = to;
  if (speaksChatOnly(spec, learned)) return throughChat(to, sink, signal, null);
  const watch = new MissingEndpoint(sink);
  const outcome = await backend.run(instance, to.makeCall(), watch, signal);
  if (!watch.isMissing || outcome.kind !== "refused" || spec.responses === "native") {
    await watch.passOn();
    return outcome;
  }
  return throughChat(to, sink, signal, watch);
}

/** @param native The engine's own refusal, told when it has no chat completions either. */
async function throughChat(
  { backend, instance, spec, learned, makeCall }: Respond,
  sink: Sink,
  signal: AbortSignal,
  native: MissingEndpoint | null,
): Promise<Outcome> {
  const call = makeCall();
  const chunks: Uint8Array[] = [];
  for await (const chunk of call.body()) chunks.push(chunk);
  const { chat, chatFault, echo } = await readRequest(Buffer.concat(chunks));
  if (chat === null) {
    if (native !== null) learned.add(spec.name);
    const error = { ...chatFault, type: "invalid_request_error", code: "invalid_body" };
    sink.head({ status: 400, headers: { "content-type": "application/json" } });
    await sink.chunk(Buffer.from(JSON.stringify({ error })));
    return { kind: "refused" };
  }
  const watch = new MissingEndpoint(sink);
  const translated = new ChatSink(echo, native === null ? sink : watch);
  const outcome = await backend.run(instance, chatCall(call, chat), translated, signal);
  if (native !== null && watch.isMissing && outcome.kind === "refused") {
    await native.passOn();
    return outcome;
  }
  await watch.passOn();
  if (outcome.kind === "succeeded" || outcome.kind === "refused") learned.add(spec.name);
  if (outcome.kind !== "succeeded" || (await translated.end())) return outcome;
  return { kind: "failed", code: "backend_error", detail: "the engine's chat completion could not be read" };
}

function chatCall(call: Call, chat: Uint8Array): Call {
  return {
    ...call,
    endpoint: CHAT,
    contentType: "application/json",
    sizeBytes: chat.byteLength,
    body: async function* () {
      yield chat;
    },
  };
}

/** Holds a 404 or 405 back until it is known what it means; anything else goes through. */
class MissingEndpoint implements Sink {
  readonly #to: Sink;
  #held: { readonly head: Head; readonly chunks: Uint8Array[] } | null = null;
  #bytes = 0;

  constructor(to: Sink) {
    this.#to = to;
  }

  get isMissing(): boolean {
    if (this.#held === null) return false;
    if (this.#held.head.status === 405) return true;
    return !ABOUT_REQUEST.test(Buffer.concat(this.#held.chunks).toString());
  }

  head(head: Head): void {
    if (head.status === 404 || head.status === 405) this.#held = { head, chunks: [] };
    else this.#to.head(head);
  }

  chunk(bytes: Uint8Array): Promise<void> | void {
    if (this.#held === null) return this.#to.chunk(bytes);
    this.#bytes += bytes.byteLength;
    if (this.#bytes <= REFUSAL_BYTES) this.#held.chunks.push(bytes);
  }

  /** It was no missing endpoint: what was held back is the answer. */
  async passOn(): Promise<void> {
    const held = this.#held;
    this.#held = null;
    if (held === null) return;
    this.#to.head(held.head);
    for (const chunk of held.chunks) await this.#to.chunk(chunk);
  }
}
