// Stores on real files: a directory for each test, removed afterwards.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { VirtualClock } from "../../src/simulator/virtual-clock.ts";
import { type OnFile, openSqliteStore } from "../../src/store/sqlite/open.ts";
import { type Given, nextOwner, settings } from "./given.ts";

export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "sir-store-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** Closed when the test ends, if it was not before. */
export async function openOnFile(
  directory: string,
  over: Partial<OnFile> & { clock?: VirtualClock } = {},
): Promise<Given> {
  const { clock = new VirtualClock(), ...rest } = over;
  const owner = rest.owner ?? nextOwner();
  const fatal: Error[] = [];
  const options = { ...settings(clock, owner, fatal), path: join(directory, "sir.db"), ...rest };
  const store = await openSqliteStore({ ...options, host: "worker" });
  onTestFinished(() => store.close());
  return { store, clock, owner, fatal };
}
