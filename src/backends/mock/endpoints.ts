// Which endpoint is answered how: one line each.

import { chat, completion } from "./chat.ts";
import { type Generation, generate } from "./generation.ts";
import { images, speech, transcription } from "./media.ts";
import { messages } from "./messages.ts";
import { type Label, type Plan, refusal } from "./plan.ts";
import type { MockRequest } from "./request.ts";
import { responses } from "./responses.ts";
import { embeddings, moderations, rerank, score, tokenize } from "./vectors.ts";

type Answer = (request: MockRequest, label: Label, generate: () => Generation) => Plan;

const ANSWERS: ReadonlyMap<string, Answer> = new Map<string, Answer>([
  ["chat/completions", (request, label, generation) => chat(request, generation(), label)],
  ["completions", (request, label, generation) => completion(request, generation(), label)],
  ["responses", (request, label, generation) => responses(request, generation(), label)],
  ["messages", (request, label, generation) => messages(request, generation(), label)],
  ["embeddings", embeddings],
  ["rerank", rerank],
  ["score", score],
  ["moderations", moderations],
  ["tokenize", tokenize],
  ["audio/speech", speech],
  ["audio/transcriptions", (request, _, generation) => transcription(request, generation())],
  ["audio/translations", (request, _, generation) => transcription(request, generation())],
  ["images/generations", images],
  ["images/edits", images],
]);

export interface Voice {
  /** Begins each generated text. */
  readonly tag: string;
  readonly defaultMaxTokens: number;
}

export function planAnswer(request: MockRequest, label: Label, voice: Voice): Plan {
  const answer = ANSWERS.get(request.endpoint);
  if (answer === undefined) return refusal(404, `The mock engine does not answer ${request.endpoint.slice(0, 80)}.`);
  return answer(request, label, () => generate(request, voice.tag, voice.defaultMaxTokens));
}
