// A chat completion as the response that says the same.

import { echoOf } from "./echo.ts";
import { isRecord, type Json, recordsOf, textOf } from "./json.ts";

/** What the model has said so far, in the order of its response's items. */
export interface Spoken {
  readonly id: string;
  readonly createdAt: number;
  readonly reasoning: string;
  readonly text: string;
  readonly refusal: string;
  readonly calls: readonly { readonly id: string; readonly name: string; readonly args: string }[];
  readonly finishReason: string | null;
  readonly usage: Json | null;
}

/** Null: it is no chat completion. */
export function fromChat(request: Json, completion: Json): Json | null {
  const choice = recordsOf(completion["choices"])[0];
  const message = choice?.["message"];
  if (choice === undefined || !isRecord(message)) return null;
  const spoken: Spoken = {
    id: textOf(completion["id"]),
    createdAt: Number(completion["created"] ?? 0),
    reasoning: reasoningOf(message),
    text: textOf(message["content"]),
    refusal: textOf(message["refusal"]),
    calls: recordsOf(message["tool_calls"]).map((call) => {
      const spec = isRecord(call["function"]) ? call["function"] : {};
      return { id: textOf(call["id"]), name: textOf(spec["name"]), args: textOf(spec["arguments"]) };
    }),
    finishReason: typeof choice["finish_reason"] === "string" ? choice["finish_reason"] : null,
    usage: isRecord(completion["usage"]) ? completion["usage"] : null,
  };
  return responseOf(request, spoken);
}

/** Engines spell it both ways. */
export function reasoningOf(message: Json): string {
  return textOf(message["reasoning_content"] ?? message["reasoning"]);
}

/** The whole response, at its end. */
export function responseOf(request: Json, spoken: Spoken): Json {
  const { finishReason } = spoken;
  const cut =
    finishReason === "length" ? "max_output_tokens" : finishReason === "content_filter" ? "content_filter" : null;
  const status = cut === null ? "completed" : "incomplete";
  return {
    ...startedOf(request, spoken),
    status,
    incomplete_details: cut === null ? null : { reason: cut },
    output: outputOf(spoken, status),
    usage: usageOf(spoken.usage),
  };
}

export function startedOf(request: Json, { id, createdAt }: Pick<Spoken, "id" | "createdAt">): Json {
  return { ...echoOf(request), id: itemId("resp", id, 0), created_at: createdAt, status: "in_progress" };
}

function outputOf(spoken: Spoken, status: string): readonly Json[] {
  const items: Json[] = [];
  if (spoken.reasoning !== "") items.push(reasoningItem(spoken, status));
  if (spoken.text !== "" || spoken.refusal !== "" || spoken.calls.length === 0) items.push(messageItem(spoken, status));
  for (const [i, call] of spoken.calls.entries()) items.push(callItem(spoken.id, i, call, status));
  return items;
}

export function reasoningItem({ id, reasoning }: Pick<Spoken, "id" | "reasoning">, status: string): Json {
  const content = reasoning === "" ? [] : [{ type: "reasoning_text", text: reasoning }];
  return { id: itemId("rs", id, 0), type: "reasoning", summary: [], content, status };
}

export function messageItem(spoken: Pick<Spoken, "id" | "text" | "refusal">, status: string): Json {
  const content: Json[] = [];
  if (status !== "in_progress") {
    if (spoken.text !== "" || spoken.refusal === "") content.push(textPart(spoken.text));
    if (spoken.refusal !== "") content.push({ type: "refusal", refusal: spoken.refusal });
  }
  return { id: itemId("msg", spoken.id, 0), type: "message", role: "assistant", status, content };
}

export function textPart(text: string): Json {
  return { type: "output_text", text, annotations: [], logprobs: [] };
}

export function callItem(id: string, i: number, call: Spoken["calls"][number], status: string): Json {
  const callId = call.id === "" ? itemId("call", id, i) : call.id;
  return {
    id: itemId("fc", id, i),
    type: "function_call",
    call_id: callId,
    name: call.name,
    arguments: call.args,
    status,
  };
}

/** From the completion's own id, so that the same bytes always make the same ids. */
export function itemId(prefix: string, completion: string, i: number): string {
  const rest = completion.replace(/^chatcmpl-?/, "").replace(/[^A-Za-z0-9]/g, "");
  return `${prefix}_${rest === "" ? "0" : rest}${i === 0 ? "" : `_${i}`}`;
}

function usageOf(usage: Json | null): Json | null {
  if (usage === null) return null;
  const number = (value: unknown): number => (typeof value === "number" ? value : 0);
  const detail = (name: string, key: string): number => {
    const details = usage[name];
    return isRecord(details) ? number(details[key]) : 0;
  };
  const [input, output] = [number(usage["prompt_tokens"]), number(usage["completion_tokens"])];
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: detail("prompt_tokens_details", "cached_tokens") },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: detail("completion_tokens_details", "reasoning_tokens") },
    total_tokens: input + output,
  };
}
