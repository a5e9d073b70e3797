// One Docker engine and one image for all files of this suite.

import type { TestProject } from "vitest/node";
import { haveEngine, wipeDockerd } from "./dockerd.ts";
import { importImage } from "./image.ts";

declare module "vitest" {
  export interface ProvidedContext {
    dockerHost: string;
    /** Of our own dockerd; empty when the machine's engine is used. */
    dockerFolder: string;
  }
}

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  let dockerd: Awaited<ReturnType<typeof haveEngine>>;
  try {
    dockerd = await haveEngine();
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    console.log("0 passed, 1 failed, 0 skipped");
    throw error;
  }
  try {
    await importImage(dockerd.host);
  } catch (error) {
    await wipeDockerd(dockerd);
    throw error;
  }
  console.log(`Docker engine at ${dockerd.host}${dockerd.folder === null ? " (the machine's own)" : ""}`);
  project.provide("dockerHost", dockerd.host);
  project.provide("dockerFolder", dockerd.folder ?? "");
  return () => wipeDockerd(dockerd);
}
