// The endpoints that name a model: OpenAI's, and what vLLM and others serve besides. All of them pass through alike.

import type { HttpWorld } from "./deps.ts";
import { answerInference } from "./inference.ts";
import { inferenceHeaders } from "./parameters.ts";
import { json, opaque, type Route } from "./route.ts";
import { ReceiptSchema } from "./schemas.ts";

const ENDPOINTS: Readonly<Record<string, string>> = {
  "/v1/chat/completions": "Chat completion",
  "/v1/completions": "Text completion",
  "/v1/embeddings": "Embeddings",
  "/v1/responses": "Response",
  "/v1/rerank": "Rerank",
  "/v1/moderations": "Moderation",
  "/v1/audio/speech": "Speech from text",
  "/v1/audio/transcriptions": "Text from speech",
  "/v1/audio/translations": "English text from speech",
  "/v1/images/generations": "Image from text",
  "/v1/images/edits": "Image from an image",
  "/v1/images/variations": "Variations of an image",
  "/v1/messages": "Message (Anthropic's shape)",
  "/v1/messages/count_tokens": "Count the tokens of a message",
  "/v1/score": "Score pairs",
  "/v1/classify": "Classify",
  "/v1/pooling": "Pooling",
  "/v2/rerank": "Rerank (second version)",
  "/rerank": "Rerank, as vLLM has it",
  "/score": "Score pairs, as vLLM has it",
  "/classify": "Classify, as vLLM has it",
  "/pooling": "Pooling, as vLLM has it",
  "/tokenize": "Tokens of a text",
  "/detokenize": "Text of tokens",
};

export function inferenceRoutes(world: HttpWorld): Route[] {
  return Object.entries(ENDPOINTS).map(([path, summary]) => ({
    method: "post",
    path,
    tag: "inference",
    summary,
    headers: inferenceHeaders,
    takesBody: true,
    answers: {
      200: opaque("The engine's answer, its status and bytes unchanged"),
      202: json(ReceiptSchema, "With `Prefer: respond-async`: the job's receipt"),
      303: json(ReceiptSchema, "Held for `sync.holdSeconds`, and not ready yet: `Location` has the answer"),
    },
    handle: (c) => answerInference(c, world, path),
  }));
}
