// The vllm-sleep driver under the contract of all drivers, with a real process behind it.

import { describe } from "vitest";
import { vllmSleep } from "../../src/backends/vllm-sleep.ts";
import { exerciseBackend } from "./contract.ts";
import { rig } from "./engines/rig.ts";
import { callOf, chatBody } from "./samples.ts";

const CHAT = "/v1/chat/completions";

describe("the vllm-sleep driver", () => {
  exerciseBackend(async () => {
    const { backend, placement } = rig();
    return {
      backend: backend("chat-model", { tokenMs: 20 }, {}, vllmSleep),
      placement: placement("chat-model"),
      call: () => callOf(CHAT, chatBody()),
      streamed: () => callOf(CHAT, chatBody({ stream: true, max_tokens: 10 })),
      refused: () => callOf(CHAT, chatBody({ top_k: -5 })),
      passing: (promise) => promise,
      midway: () => new Promise((resolve) => setTimeout(resolve, 60)),
    };
  });
});
