// Which Chromium there is, and how it is started: headless, without anything that would ask the network.

import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";

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

/** @throws where there is none */
export function launchChromium(): Promise<Browser> {
  return chromium.launch({ executablePath: chromiumPath() ?? "", headless: true, args: FLAGS });
}
