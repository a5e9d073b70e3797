// What the figures were taken on, and how much of it others used meanwhile: on a shared machine a figure without that is
// worth little.

import { execFileSync } from "node:child_process";
import { readFileSync, statfsSync } from "node:fs";
import { cpus, getPriority, loadavg, release, totalmem, type } from "node:os";

const FILE_SYSTEMS: Readonly<Record<number, string>> = {
  61267: "ext4",
  16914836: "tmpfs (a RAM disk: nothing is learned of durability)",
  1481003842: "xfs",
  2435016766: "btrfs",
  2035054128: "overlay",
};
const PAGE_BYTES = 4_096;
const TICK_MS = 10;

export interface Machine {
  readonly date: string;
  readonly commit: string;
  readonly processor: string;
  readonly memoryGiB: number;
  readonly system: string;
  readonly fileSystem: string;
  readonly node: string;
  /** Runnable processes over the last minute, before the first bench. */
  readonly loadAverage: number;
  /** Other than `normal`: these processes went before others, or behind them. */
  readonly turn: string;
}

/** @param folder Where the data of the benches lie. */
export function describeMachine(folder: string): Machine {
  const all = cpus();
  const kind = statfsSync(folder).type;
  return {
    date: new Date().toISOString().slice(0, 16).replace("T", " "),
    commit: commitNow(),
    processor: `${all.length} x ${all[0]?.model ?? "unknown"}`,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    system: `${type()} ${release()}`,
    fileSystem: FILE_SYSTEMS[kind] ?? `0x${kind.toString(16)}`,
    node: process.version,
    loadAverage: Math.round((loadavg()[0] ?? 0) * 10) / 10,
    turn: turnOf(),
  };
}

/** Real-time scheduling (`chrt -r 1`), niceness, or neither. */
function turnOf(): string {
  const policy = Number(statOf(process.pid)?.[38] ?? 0);
  if (policy === 1 || policy === 2) return "real time";
  const niceness = getPriority();
  return niceness === 0 ? "normal" : `niceness ${niceness}`;
}

function commitNow(): string {
  try {
    const git = (...words: string[]): string => execFileSync("git", words, { encoding: "utf8", stdio: "pipe" }).trim();
    const changed = git("status", "--porcelain", "--untracked-files=no", "src") === "" ? "" : " with changes in src";
    return `${git("rev-parse", "--short", "HEAD")}${changed}`;
  } catch {
    return "unknown";
  }
}

/** CPU time a process has used, in ms; null where `/proc` does not say. */
export function cpuMsOf(pid: number): number | null {
  const fields = statOf(pid);
  return fields === null ? null : (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}

/**
 * CPU time of a process's first thread, which is where Node runs JavaScript, to the microsecond; null where `/proc` does not
 * say. It is brought up to date when the thread sleeps.
 */
export function mainThreadMsOf(pid: number): number | null {
  try {
    return Number(readFileSync(`/proc/${pid}/schedstat`, "utf8").split(" ")[0]) / 1e6;
  } catch {
    return null;
  }
}

/** Memory a process holds now; null where `/proc` does not say. */
export function residentMiBOf(pid: number): number | null {
  const pages = statOf(pid)?.[21];
  return pages === undefined ? null : (Number(pages) * PAGE_BYTES) / 1_048_576;
}

/** Counts what others use of the machine's CPU from now on; the answer is a share of all processors, in percent. */
export function watchOthers(children: () => readonly number[]): () => number | null {
  const begun = ownMs(children());
  const busyFrom = busy();
  return () => {
    const own = ownMs(children());
    const now = busy();
    if (begun === null || own === null || now.allMs === busyFrom.allMs) return null;
    const othersMs = now.busyMs - busyFrom.busyMs - (own - begun);
    return Math.max(0, (100 * othersMs) / (now.allMs - busyFrom.allMs));
  };
}

/** This process, the children it has waited for, and those that still run. */
function ownMs(children: readonly number[]): number | null {
  const fields = statOf(process.pid);
  if (fields === null) return null;
  const ended = (Number(fields[13]) + Number(fields[14])) * TICK_MS;
  const self = (Number(fields[11]) + Number(fields[12])) * TICK_MS;
  return children.reduce((sum, pid) => sum + (cpuMsOf(pid) ?? 0), self + ended);
}

/** The fields after the command's name, which may hold spaces. */
function statOf(pid: number): readonly string[] | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    return text.slice(text.lastIndexOf(")") + 2).split(" ");
  } catch {
    return null;
  }
}

function busy(): { busyMs: number; allMs: number } {
  let busyMs = 0;
  let allMs = 0;
  for (const { times } of cpus()) {
    busyMs += times.user + times.nice + times.sys + times.irq;
    allMs += times.user + times.nice + times.sys + times.irq + times.idle;
  }
  return { busyMs, allMs };
}
