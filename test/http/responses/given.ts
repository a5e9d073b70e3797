// What tests of background responses start from: the official client on the app itself, in virtual time.

import OpenAI from "openai";
import { type Given, type GivenOptions, given, settled } from "../given.ts";

export interface Site extends Given {
  readonly client: OpenAI;
  /** The bytes of every answer, in the order of the requests. */
  readonly wire: { readonly status: number; readonly text: Promise<string> }[];
  /** The promise's value, letting virtual time pass. */
  wait<T>(promise: PromiseLike<T>): Promise<T>;
}

export async function site(options: GivenOptions = {}): Promise<Site> {
  const world = await given(options);
  const wire: Site["wire"] = [];
  const fetch = async (url: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const response = await world.app.request(String(url).replace("http://sir", ""), init);
    wire.push({ status: response.status, text: response.clone().text() });
    return response;
  };
  const client = new OpenAI({ baseURL: "http://sir/v1", apiKey: "none", maxRetries: 0, fetch });
  return { ...world, client, wire, wait: (promise) => settled(world, Promise.resolve(promise)) };
}

export const INPUT = { model: "chat", input: "hello", background: true } as const;

export function engineResponse(more: Record<string, unknown> = {}): string {
  return JSON.stringify({
    id: "resp_engine",
    object: "response",
    created_at: 1,
    status: "completed",
    model: "engine-name",
    output: [message("hello there")],
    usage: { input_tokens: 1, output_tokens: 2, total_tokens: 3 },
    ...more,
  });
}

export function message(text: string) {
  return {
    id: "msg_1",
    type: "message",
    role: "assistant",
    status: "completed",
    content: [{ type: "output_text", text, annotations: [] }],
  };
}

/** An engine's events, as it would send them: its own id and its own count. */
export function engineEvents(deltas: readonly string[]): string[] {
  const text = deltas.join("");
  const at = { item_id: "msg_1", output_index: 0, content_index: 0 };
  const started = JSON.parse(engineResponse({ status: "in_progress", output: [] })) as object;
  const item = { ...message(text), status: "in_progress", content: [] };
  const events: { type: string; [key: string]: unknown }[] = [
    { type: "response.created", response: started },
    { type: "response.in_progress", response: started },
    { type: "response.output_item.added", output_index: 0, item },
    { type: "response.content_part.added", ...at, part: { type: "output_text", text: "", annotations: [] } },
    ...deltas.map((delta) => ({ type: "response.output_text.delta", ...at, delta, logprobs: [] })),
    { type: "response.output_text.done", ...at, text, logprobs: [] },
    { type: "response.content_part.done", ...at, part: message(text).content[0] },
    { type: "response.output_item.done", output_index: 0, item: message(text) },
    { type: "response.completed", response: JSON.parse(engineResponse({ output: [message(text)] })) as object },
  ];
  return events.map(
    ({ type, ...rest }, i) => `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: i, ...rest })}\n\n`,
  );
}
