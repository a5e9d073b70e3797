// The end of an engine with everything it started: the leader is asked, then all that is left, then killed, then looked
// for once more. Verified gone, or an error that says what still runs.

import { kill } from "node:process";
import { type Clock, sleepUntil } from "../../domain/clock.ts";
import { LoadError } from "../backend.ts";
import { identityOf, isRunning, membersOf, type Tree } from "./process-table.ts";

const KILLED_MS = 10_000;
const FIRST_PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 200;

export interface Ending {
  readonly tree: Tree;
  readonly stopSignal: NodeJS.Signals;
  readonly graceMs: number;
  readonly clock: Clock;
  /** Aborted: no more grace. */
  readonly hurry?: AbortSignal;
}

/** Resolves when nothing of it runs any more. @throws {LoadError} when something cannot be killed */
export async function endTree(ending: Ending): Promise<void> {
  const { tree, stopSignal, graceMs, clock, hurry } = ending;
  let members = await membersOf(tree);
  if (members.length === 0) return;
  const graceEndsMs = clock.nowMs() + graceMs;
  const inGrace = (): boolean => clock.nowMs() < graceEndsMs && hurry?.aborted !== true;
  if (graceMs > 0) {
    // The leader ends its own; told at the same time, they would drop what it lets finish.
    const { leader } = tree;
    if (leader !== null && (await isRunning(leader))) {
      send(leader.pid, stopSignal);
      await poll(clock, hurry, async () => !inGrace() || !(await isRunning(leader)));
    }
    members = await membersOf(tree);
    if (members.length > 0 && inGrace()) {
      for (const pid of members) send(pid, stopSignal);
      await poll(clock, hurry, async () => !inGrace() || !(await anyRuns(members)));
    }
  }
  await killAll(ending);
}

async function killAll({ tree, clock }: Ending): Promise<void> {
  const untilMs = clock.nowMs() + KILLED_MS;
  for (;;) {
    const members = await membersOf(tree);
    if (members.length === 0) return;
    if (clock.nowMs() >= untilMs) {
      const which = members.slice(0, 8).join(", ");
      throw new LoadError(
        `processes of the engine still run after SIGKILL (pid ${which}): most likely they wait for a driver or a disk`,
      );
    }
    for (const pid of members) send(pid, "SIGKILL");
    await poll(clock, undefined, async () => clock.nowMs() >= untilMs || !(await anyRuns(members)));
  }
}

async function anyRuns(pids: readonly number[]): Promise<boolean> {
  for (const pid of pids) if ((await identityOf(pid)) !== null) return true;
  return false;
}

async function poll(clock: Clock, hurry: AbortSignal | undefined, over: () => Promise<boolean>): Promise<void> {
  for (let pauseMs = FIRST_PAUSE_MS; !(await over()); pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    await sleepUntil(clock, clock.nowMs() + pauseMs, hurry);
  }
}

/** What has ended meanwhile needs no signal. */
function send(pid: number, signal: NodeJS.Signals): void {
  try {
    kill(pid, signal);
  } catch {
    // Looked for again before anything is believed.
  }
}
