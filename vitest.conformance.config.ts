// Real clients against the built router; eleven minutes, nearly all of it waiting. Needs npm's registry, and PyPI.
//
//   npm run test:conformance

import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/conformance/*.test.ts"],
    globalSetup: ["test/conformance/global-setup.ts"],
    reporters: ["default", "./test/closing-line.ts"],
    hookTimeout: 180_000,
    pool: "forks",
    maxWorkers: 3,
    // Everything waits side by side.
    sequence: { concurrent: true },
    maxConcurrency: 1_000,
  },
});
