// Installs the clients before the suite, and tells it what there is.

import type { TestProject } from "vitest/node";
import { type Installed, install } from "./install.ts";

declare module "vitest" {
  interface ProvidedContext {
    installed: Installed;
  }
}

export async function setup(project: TestProject): Promise<void> {
  project.provide("installed", await install());
}
