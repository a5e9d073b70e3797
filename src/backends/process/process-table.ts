// What runs on this machine, as /proc tells it: who a pid is, and which processes belong to one engine. A pid alone is
// nobody: it is reused; with the instant of its start it is one process and no other.

import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { uptime } from "node:os";
import { kill } from "node:process";
import { MARKER } from "./launch-plan.ts";

/** One process, and no later one with the same pid. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Ticks from the machine's boot to its start; elsewhere than on Linux, the start as `ps` writes it. */
  readonly started: string;
}

interface Stat {
  readonly state: string;
  readonly group: number;
  readonly session: number;
  readonly started: string;
}

export interface Tree {
  /** Of the process that was started, which leads a session and a group of its own. */
  readonly leader: ProcessIdentity | null;
  /** What its environment carries. */
  readonly marker: string;
  /** True: this process saw the leader run, so that the session with its pid is its own. */
  readonly witnessed: boolean;
}

let procfs: Promise<boolean> | null = null;

/** Whether /proc can be asked. */
function hasProc(): Promise<boolean> {
  procfs ??= readFile("/proc/self/stat").then(
    () => true,
    () => false,
  );
  return procfs;
}

/** Tells one boot of the machine from the next; a pid's start is counted from it. */
export async function bootMark(wallMs: number): Promise<string> {
  const id = await readFile("/proc/sys/kernel/random/boot_id", "utf8").catch(() => null);
  return id?.trim() ?? `up since minute ${Math.round((wallMs / 1000 - uptime()) / 60)}`;
}

/** Null when no such process runs; one that has ended and waits to be reaped does not. */
export async function identityOf(pid: number): Promise<ProcessIdentity | null> {
  if (!(await hasProc())) return identityByPs(pid);
  const stat = await statOf(pid);
  return stat === null || hasEnded(stat) ? null : { pid, started: stat.started };
}

export async function isRunning({ pid, started }: ProcessIdentity): Promise<boolean> {
  return (await identityOf(pid))?.started === started;
}

/** The pids of all that belongs to the engine and has not ended: its session, and what left it but carries its mark. */
export async function membersOf(tree: Tree): Promise<readonly number[]> {
  if (!(await hasProc())) return groupByKill(tree);
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name)).map(Number);
  const inSession: number[] = [];
  const marked = new Set<number>();
  for (const pid of pids) {
    const stat = await statOf(pid);
    if (stat === null || hasEnded(stat) || isOlder(stat, tree.leader)) continue;
    if (tree.leader !== null && (stat.session === tree.leader.pid || stat.group === tree.leader.pid))
      inSession.push(pid);
    if (await carries(pid, tree.marker)) marked.add(pid);
  }
  const ours = inSession.length > 0 && (await ownsSession(tree, inSession, marked));
  return [...new Set([...(ours ? inSession : []), ...marked])];
}

/** Whether the session with the leader's pid is still the engine's: the pid may be another's by now. */
async function ownsSession(tree: Tree, inSession: readonly number[], marked: ReadonlySet<number>): Promise<boolean> {
  if (tree.leader === null) return false;
  const now = await statOf(tree.leader.pid);
  if (now !== null) return now.started === tree.leader.started;
  return tree.witnessed || inSession.some((pid) => marked.has(pid));
}

/** Nothing that an engine started is older than the engine. */
function isOlder({ started }: Stat, leader: ProcessIdentity | null): boolean {
  return leader !== null && Number(started) < Number(leader.started);
}

function hasEnded({ state }: Stat): boolean {
  return state === "Z" || state === "X" || state === "x";
}

async function statOf(pid: number): Promise<Stat | null> {
  const text = await readFile(`/proc/${pid}/stat`, "latin1").catch(() => null);
  if (text === null) return null;
  // The name in parentheses may hold anything, parentheses too.
  const [state = "", , group = "", session = "", ...rest] = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return { state, group: Number(group), session: Number(session), started: rest[15] ?? "" };
}

async function carries(pid: number, marker: string): Promise<boolean> {
  const environment = await readFile(`/proc/${pid}/environ`, "latin1").catch(() => "");
  return `\0${environment}\0`.includes(`\0${MARKER}=${marker}\0`);
}

function identityByPs(pid: number): Promise<ProcessIdentity | null> {
  return new Promise((resolve) => {
    execFile("ps", ["-o", "stat=,lstart=", "-p", String(pid)], { env: { LC_ALL: "C" } }, (error, stdout) => {
      const [, state = "Z", started = ""] = /^\s*(\S+)\s+(.+?)\s*$/.exec(stdout) ?? [];
      resolve(error !== null || state.startsWith("Z") ? null : { pid, started });
    });
  });
}

/** Without /proc only the group can be asked for, and only while its leader runs or was seen to run. */
async function groupByKill({ leader, witnessed }: Tree): Promise<readonly number[]> {
  if (leader === null) return [];
  const now = await identityByPs(leader.pid);
  if (now === null ? !witnessed : now.started !== leader.started) return [];
  try {
    kill(-leader.pid, 0);
    return [leader.pid];
  } catch {
    return [];
  }
}
