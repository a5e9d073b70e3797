// A group of tests in a Chromium of its own.

import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe } from "vitest";
import { chromiumPath, launchChromium } from "./launch.ts";

/** A group of tests with a browser of its own; skipped, and counted as skipped, without Chromium. */
export function describeInChromium(name: string, tests: (browser: () => Browser) => void): void {
  describe.skipIf(chromiumPath() === null)(name, () => {
    let browser: Browser | null = null;
    beforeAll(async () => {
      browser = await launchChromium();
    });
    afterAll(async () => {
      await browser?.close();
    });
    tests(() => {
      if (browser === null) throw new Error("the browser is not started yet");
      return browser;
    });
  });
}
