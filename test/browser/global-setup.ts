// Builds the page once for all test files, beside the built router that they start, unless it is there already.

import { buildPage } from "./built-page.ts";
import { chromiumPath } from "./launch.ts";

export function setup(): void {
  if (chromiumPath() === null) {
    console.warn(
      "\nSKIPPED: the whole browser suite. There is no Chromium: apt-get install chromium, or CHROMIUM=PATH.\n",
    );
    return;
  }
  buildPage();
}
