// kill -9 at random moments, always on the same data: whatever was acknowledged is there, and the next router can start.

import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { authority } from "../store/given.ts";
import { builtWriter, openOnFile, temporaryDirectory } from "../store/on-file.ts";
import { seeded } from "./replay.ts";
import { verify } from "./verify.ts";

const ROUNDS = 12;
const ROOT = resolve(import.meta.dirname, "../..");

/** Resolves once the process is gone. */
function runAndKill(directory: string, script: string, afterMs: number): Promise<void> {
  const argv = ["--import", "tsx", join(import.meta.dirname, "workload.ts"), directory, script, "FULL", "1000000"];
  const child = spawn(process.execPath, argv, { cwd: ROOT, stdio: ["ignore", "ignore", "inherit"] });
  const acks = join(directory, "run.ack");
  const before = sizeOf(acks);
  const watch = setInterval(() => {
    if (sizeOf(acks) <= before + 6) return;
    clearInterval(watch);
    setTimeout(() => child.kill("SIGKILL"), afterMs);
  }, 5);
  return new Promise((done, fail) => {
    child.on("close", (code, signal) => {
      clearInterval(watch);
      if (signal === "SIGKILL") done();
      else fail(new Error(`the workload ended by itself with ${code}`));
    });
  });
}

function sizeOf(path: string): number {
  try {
    return readFileSync(path).length;
  } catch {
    return 0;
  }
}

test("after each of twelve kills every acknowledged job is there", async () => {
  const directory = temporaryDirectory();
  const script = (await builtWriter()).href;
  const random = seeded(7);
  let acknowledged: string[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    await runAndKill(directory, script, 50 + random() * 300);

    const lines = readFileSync(join(directory, "run.ack"), "utf8").split("\n");
    // The last line may be cut: it was not heard in full.
    acknowledged = lines.slice(0, -1);
    const verdict = verify(join(directory, "sir.db"), acknowledged);
    expect(verdict).toEqual({ lost: 0, problems: [] });
  }

  const { store, owner } = await openOnFile(directory);
  const recovery = await store.recover(authority(owner), await store.deadOwners(), 10);
  console.log(`${ROUNDS} kills, ${acknowledged.length} acknowledgements, 0 lost, ${recovery.requeued} queued again`);
  expect(store.cleanShutdown).toBe(false);
  expect(await store.deadOwners()).toEqual([]);
  expect(acknowledged.length).toBeGreaterThan(ROUNDS * 10);
}, 120_000);
