import { defineConfig } from "vitest/config";

// The whole-system simulation: 200 seeded days on two processes. `SEED=17` runs one day, `SEEDS=40` fewer of them.
export default defineConfig({
  test: {
    include: ["test/world/**/*.test.ts"],
    reporters: ["default", "./test/closing-line.ts"],
    testTimeout: 300_000,
    pool: "forks",
    maxWorkers: 2,
  },
});
