// The dashboard in a real Chromium against the built router. CHROMIUM names another one than /usr/bin/chromium.
//
//   npm run test:browser

import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/browser/**/*.test.ts"],
    globalSetup: ["test/browser/global-setup.ts"],
    reporters: ["default", "./test/closing-line.ts"],
    testTimeout: 180_000,
    hookTimeout: 180_000,
    // A page follows the router by moments that a busy machine stretches; only what never comes is a failure.
    expect: { poll: { timeout: 60_000 } },
    pool: "forks",
    maxWorkers: 2,
  },
});
