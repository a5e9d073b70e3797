// The vllm-docker driver against a real Docker engine; one is started where none answers.
//
//   npm run test:docker

import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/docker/**/*.test.ts"],
    globalSetup: ["test/docker/global-setup.ts"],
    reporters: ["default", "./test/closing-line.ts"],
    testTimeout: 180_000,
    hookTimeout: 60_000,
    pool: "forks",
    // One engine and one GPU: what one file does to them would be seen by another.
    maxWorkers: 1,
    fileParallelism: false,
  },
});
