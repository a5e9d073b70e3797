// The engines that are known, most telling first: several of them speak a second one's language.

import { llamaServer } from "./llama-server.ts";
import { llamaSwap } from "./llama-swap.ts";
import { lmstudio } from "./lmstudio.ts";
import { localai } from "./localai.ts";
import { ollama } from "./ollama.ts";
import type { EngineProbe } from "./probe.ts";
import { router } from "./router.ts";
import { sglang } from "./sglang.ts";
import { tabbyapi } from "./tabbyapi.ts";
import { vllm } from "./vllm.ts";

export const PROBES: readonly EngineProbe[] = [
  router,
  llamaSwap,
  localai,
  lmstudio,
  sglang,
  vllm,
  tabbyapi,
  llamaServer,
  ollama,
];
