// Which Chromium there is, and how it is started: headless, without anything that would ask the network.

import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";
import { afterAll, beforeAll, describe } from "vitest";

const PLACES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** Null: there is none. A path that is named and does not exist is a mistake, not a reason to skip. */
export function chromiumPath(): string | null {
  const named = process.env["PLAYWRIGHT_CHROMIUM"] ?? process.env["CHROMIUM"];
  if (named !== undefined) {
    if (!existsSync(named)) throw new Error(`CHROMIUM names ${named}, which does not exist`);
    return named;
  }
  return PLACES.find((path) => existsSync(path)) ?? null;
}

/** A group of tests with a browser of its own; skipped, and counted as skipped, without Chromium. */
export function describeInChromium(name: string, tests: (browser: () => Browser) => void): void {
  describe.skipIf(chromiumPath() === null)(name, () => {
    let browser: Browser | null = null;
    beforeAll(async () => {
      browser = await chromium.launch({ executablePath: chromiumPath() ?? "", headless: true, args: FLAGS });
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
