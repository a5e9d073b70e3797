import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    exclude: ["test/crash/**", "test/world/**", "test/conformance/**", "test/docker/**", "test/browser/**"],
    reporters: ["default", "./test/closing-line.ts"],
    sequence: { shuffle: true },
    restoreMocks: true,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    pool: "forks",
    maxWorkers: 2,
  },
});
