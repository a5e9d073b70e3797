// Crashes and power cuts: slow, and one at a time. Run with `npx vitest run -c vitest.crash.config.ts`.

import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/crash/**/*.test.ts"],
    reporters: ["default", "./test/closing-line.ts"],
    testTimeout: 120_000,
    hookTimeout: 60_000,
    pool: "forks",
    maxWorkers: 1,
  },
});
