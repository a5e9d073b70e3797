// Tests that kill real processes: slower than the rest, and not part of the default run.
//
//   npx vitest run --config vitest.crash.config.ts

import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/crash/**/*.test.ts"],
    reporters: ["default", "./test/closing-line.ts"],
    testTimeout: 300_000,
    hookTimeout: 60_000,
    pool: "forks",
    maxWorkers: 2,
  },
});
