// The processes of an engine, as /proc shows them: everything in its session and every descendant.

import { readdirSync, readFileSync } from "node:fs";

interface Entry {
  readonly pid: number;
  readonly parent: number;
  readonly session: number;
  /** Seconds of processor time so far. */
  readonly cpuSeconds: number;
}

/** Ticks of /proc in a second; the same on every Linux of today. */
const TICKS = 100;

function entries(): Entry[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const stat = readFileSync(`/proc/${name}/stat`, "latin1");
        const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
        if (fields[0] === "Z") return [];
        const cpuSeconds = (Number(fields[11]) + Number(fields[12])) / TICKS;
        return [{ pid: Number(name), parent: Number(fields[1]), session: Number(fields[3]), cpuSeconds }];
      } catch {
        return [];
      }
    });
}

function entriesOf(leader: number): Entry[] {
  const all = entries();
  const inside = new Set([leader]);
  for (let size = 0; size !== inside.size; ) {
    size = inside.size;
    for (const { pid, parent, session } of all) if (session === leader || inside.has(parent)) inside.add(pid);
  }
  return all.filter(({ pid }) => inside.has(pid));
}

export function processesOf(leader: number): number[] {
  return entriesOf(leader).map(({ pid }) => pid);
}

/** How much of one processor the engine uses over half a second: 1 is one whole. */
export async function loadOf(leader: number): Promise<number> {
  const spent = (): number => entriesOf(leader).reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0);
  const [before, began] = [spent(), performance.now()];
  await new Promise((resolve) => setTimeout(resolve, 500));
  return (spent() - before) / ((performance.now() - began) / 1000);
}

/** Whether its environment, as others see it, still carries the router's mark. */
export function carriesMark(pid: number, marker: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/environ`, "latin1").includes(`SIR_INSTANCE=${marker}`);
  } catch {
    return false;
  }
}

export function titleOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "latin1").replaceAll("\0", " ").trim().slice(0, 60);
  } catch {
    return "gone";
  }
}

export function isRunning(pid: number): boolean {
  try {
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, "latin1"));
  } catch {
    return false;
  }
}
