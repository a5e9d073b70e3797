// Power cuts, simulated: everything the real store wrote is recorded, and the disk rebuilt as it would be after a cut at
// a random point. With FULL nothing that was acknowledged may be missing; with NORMAL something must be, or the test
// could not tell.

import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { builtWriter, temporaryDirectory } from "../store/on-file.ts";
import { cutAt, type Recording, readRecording, type Survival, seeded } from "./replay.ts";
import { verify } from "./verify.ts";

const CUTS = 200;
const SURVIVALS: readonly Survival[] = ["nothing", "everything", "half", "torn"];
/** What was synced is known from the recording, so the disk below need not be a real one. */
const FAST = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();
const ROOT = resolve(import.meta.dirname, "../..");

async function record(parent: string, synchronous: string): Promise<Recording> {
  const recorder = join(parent, "recorder.so");
  const source = join(import.meta.dirname, "recorder.c");
  execFileSync("gcc", ["-O2", "-shared", "-fPIC", "-w", "-o", recorder, source, "-ldl", "-lpthread"]);
  const directory = join(parent, "data");
  mkdirSync(directory);
  const log = join(parent, "log");
  const argv = ["--import", "tsx", join(import.meta.dirname, "workload.ts"), directory];
  const env = { ...process.env, PL_DIR: directory, PL_LOG: log, LD_PRELOAD: recorder };
  const run = spawnSync(process.execPath, [...argv, (await builtWriter()).href, synchronous], { cwd: ROOT, env });
  if (run.signal !== "SIGKILL") throw new Error(`the workload ended early: ${run.stderr}`);
  return readRecording(log);
}

interface Tally {
  readonly acknowledged: number;
  readonly lostJobs: number;
  readonly losingCuts: number;
  readonly problems: readonly string[];
}

function cutMany(recording: Recording, parent: string): Tally {
  const random = seeded(1);
  const problems: string[] = [];
  let lostJobs = 0;
  let losingCuts = 0;
  let acknowledged = 0;
  for (let i = 0; i < CUTS; i++) {
    const at = recording.ready + 1 + Math.floor(random() * (recording.entries.length - recording.ready - 1));
    const cut = cutAt(recording, at, SURVIVALS[i % SURVIVALS.length] ?? "half", random);
    const directory = join(parent, "cut");
    rmSync(directory, { recursive: true, force: true });
    mkdirSync(directory);
    for (const [name, bytes] of cut.files) if (name.startsWith("sir.db")) writeFileSync(join(directory, name), bytes);
    const verdict = verify(join(directory, "sir.db"), cut.acknowledged);
    lostJobs += verdict.lost;
    losingCuts += verdict.lost > 0 ? 1 : 0;
    acknowledged += cut.acknowledged.length - 2;
    problems.push(...verdict.problems.map((problem) => `cut ${i} at ${at}: ${problem}`));
  }
  return { acknowledged, lostJobs, losingCuts, problems };
}

test("in 200 power cuts no acknowledged job is lost", async () => {
  const parent = temporaryDirectory(FAST);
  const recording = await record(parent, "FULL");

  const tally = cutMany(recording, parent);

  console.log(`FULL: ${CUTS} cuts, ${tally.acknowledged} acknowledgements, ${tally.lostJobs} lost`);
  expect(tally.problems).toEqual([]);
  expect(tally.lostJobs).toBe(0);
  expect(tally.acknowledged).toBeGreaterThan(CUTS * 50);
}, 120_000);

test("the same cuts with synchronous=NORMAL lose acknowledged jobs, so this test can fail", async () => {
  const parent = temporaryDirectory(FAST);
  const recording = await record(parent, "NORMAL");

  const tally = cutMany(recording, parent);

  console.log(`NORMAL: ${tally.losingCuts} of ${CUTS} cuts lost ${tally.lostJobs} acknowledged jobs`);
  expect(tally.losingCuts).toBeGreaterThan(CUTS / 10);
}, 120_000);
