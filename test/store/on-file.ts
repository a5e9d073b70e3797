// Stores on real files: a directory for each test, removed afterwards.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "vite";
import { onTestFinished } from "vitest";
import { VirtualClock } from "../../src/simulator/virtual-clock.ts";
import { type OnFile, openSqliteStore } from "../../src/store/sqlite/open.ts";
import { type Given, nextOwner, settings } from "./given.ts";

/** The writer's thread as one built file: from source each of them would spend most of a second on its loader. */
let built: Promise<URL> | null = null;

export function builtWriter(): Promise<URL> {
  built ??= buildWriter();
  return built;
}

async function buildWriter(): Promise<URL> {
  const root = resolve(import.meta.dirname, "../..");
  const outDir = join(root, ".tmp", `store-writer-${process.pid}`);
  const output = { entryFileNames: "worker.mjs" };
  const ssr = join(root, "src/store/sqlite/worker.ts");
  await build({ root, configFile: false, logLevel: "warn", build: { ssr, outDir, rollupOptions: { output } } });
  process.once("exit", () => rmSync(outDir, { recursive: true, force: true }));
  return pathToFileURL(join(outDir, "worker.mjs"));
}

/** @param parent A RAM disk will do where the test brings its own power cuts. */
export function temporaryDirectory(parent = tmpdir()): string {
  const directory = mkdtempSync(join(parent, "sir-store-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

export type FileOptions = Partial<OnFile> & { clock?: VirtualClock };

/** Closed when the test ends, if it was not before. */
export async function openOnFile(directory: string, over: FileOptions = {}): Promise<Given> {
  const { clock = new VirtualClock(), ...rest } = over;
  const owner = rest.owner ?? nextOwner();
  const fatal: Error[] = [];
  const script = await builtWriter();
  const options = { ...settings(clock, owner, fatal), path: join(directory, "sir.db"), script, ...rest };
  const store = await openSqliteStore({ ...options, host: "worker" });
  onTestFinished(() => store.close());
  return { store, clock, owner, fatal };
}
