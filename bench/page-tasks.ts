// The tasks of a page's main thread, from Chromium's own trace.

import type { Browser, Page } from "playwright-core";

export interface Task {
  readonly tookMs: number;
  /** Of the processor, which others take nothing from. */
  readonly cpuMs: number;
}

interface TraceEvent {
  readonly name: string;
  readonly ph: string;
  readonly pid: number;
  readonly tid: number;
  readonly dur?: number;
  readonly tdur?: number;
  readonly args?: { readonly name?: string };
}

const CATEGORIES = ["disabled-by-default-devtools.timeline", "devtools.timeline", "__metadata"];

export async function tasksDuring(
  browser: Browser,
  page: Page,
  doing: () => Promise<unknown>,
): Promise<readonly Task[]> {
  await browser.startTracing(page, { categories: CATEGORIES });
  await doing();
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString("utf8")) as { traceEvents: TraceEvent[] };
  const mains = new Set(
    traceEvents.filter(({ name, args }) => name === "thread_name" && args?.name === "CrRendererMain").map(threadOf),
  );
  const tasks = traceEvents.filter(({ name, ph }) => name === "RunTask" && ph === "X");
  const spent = (thread: string): number => sum(tasks.filter((task) => threadOf(task) === thread));
  // Spare renderers do next to nothing.
  const busiest = [...mains].sort((a, b) => spent(b) - spent(a))[0];
  return tasks
    .filter((task) => threadOf(task) === busiest)
    .map(({ dur = 0, tdur = 0 }) => ({ tookMs: dur / 1_000, cpuMs: tdur / 1_000 }));
}

const threadOf = ({ pid, tid }: TraceEvent): string => `${pid} ${tid}`;

const sum = (events: readonly TraceEvent[]): number => events.reduce((total, { dur = 0 }) => total + dur, 0);
