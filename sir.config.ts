// The shipped configuration: two mock models on one device, so that a swap can be seen without a GPU.
// Every key that is not shown is optional; `npx sir doctor` lists all of them with their values.

import { defineConfig } from "sir-router";

export default defineConfig({
  server: { host: "127.0.0.1", port: 8000 },
  store: { url: "sqlite:./data/sir.db" },
  jobs: { leaseSeconds: 60, resultTtlSeconds: 86_400 },
  scheduler: {
    policy: "model-score",
    minResidencySeconds: 30,
    maxWaitSeconds: 120,
    ageWeight: 1,
    depthWeight: 0.5,
    switchCostWeight: 1,
  },
  devices: { gpu0: { memoryGiB: 119 } },
  models: {
    "Qwen/Qwen3-8B": {
      label: "chat",
      aliases: ["chat"],
      concurrency: 8,
      memoryGiB: 40,
      loadSeconds: 2,
      backend: {
        driver: "mock",
        loadSeconds: 2,
        unloadSeconds: 0.5,
        firstTokenSeconds: 0.2,
        tokensPerSecond: 40,
        defaultMaxTokens: 64,
      },
    },
    "Qwen/Qwen3-Coder-30B-A3B": {
      label: "code",
      aliases: ["code"],
      concurrency: 4,
      memoryGiB: 90,
      loadSeconds: 3,
      backend: {
        driver: "mock",
        loadSeconds: 3,
        unloadSeconds: 0.5,
        firstTokenSeconds: 0.3,
        tokensPerSecond: 30,
        defaultMaxTokens: 64,
      },
    },
  },
});
