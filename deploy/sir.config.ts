// The configuration that docker-compose.yml mounts: two models that Compose made containers for, on one GPU that holds one
// of them at a time. The router starts and stops them through the socket proxy.

import { defineConfig } from "sir-router";

const container = (containerName: string) =>
  ({
    driver: "vllm-docker",
    existing: true,
    containerName,
    dockerHost: "tcp://docker-proxy:2375",
    network: "sir-engines",
    stopGraceSeconds: 60,
  }) as const;

export default defineConfig({
  server: { host: "0.0.0.0", port: 8000 },
  store: { url: "sqlite:/var/lib/sir/sir.db" },
  scheduler: { policy: "model-score", minResidencySeconds: 120, maxWaitSeconds: 900 },
  devices: { gpu0: {} },
  models: {
    "Qwen/Qwen3-8B": {
      label: "chat",
      aliases: ["chat"],
      concurrency: 32,
      loadSeconds: 90,
      backend: container("sir-vllm-chat"),
    },
    "Qwen/Qwen2.5-Coder-7B-Instruct": {
      label: "code",
      aliases: ["code"],
      concurrency: 32,
      loadSeconds: 90,
      backend: container("sir-vllm-code"),
    },
  },
});
