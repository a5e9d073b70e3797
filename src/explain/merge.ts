// Keeps the list of stretches short. The smallest neighbours are gathered by what they are about, in order of first
// appearance within their window, so that stretches still touch and every sum stays as it was.

import type { Stretch } from "../domain/life.ts";

export const STRETCHES_MAX = 2_000;
const FIRST_LIMIT_MS = 10;
const FIRST_WINDOW = 16;

export interface Merged {
  readonly stretches: readonly Stretch[];
  /** How many went into their neighbours. */
  readonly merged: number;
}

export function mergeSmall(stretches: readonly Stretch[], most = STRETCHES_MAX): Merged {
  let left = stretches;
  let limitMs = FIRST_LIMIT_MS;
  let window = FIRST_WINDOW;
  const lifeMs = (stretches.at(-1)?.toMs ?? 0) - (stretches[0]?.fromMs ?? 0);
  // At the end everything is small and in one window, in which each subject stands once.
  while (left.length > most && (limitMs <= 2 * lifeMs || window <= 2 * stretches.length)) {
    const before = left.length;
    left = gather(left, limitMs, window);
    limitMs *= 2;
    if (left.length === before) window *= 2;
  }
  return { stretches: left, merged: stretches.length - left.length };
}

/** Runs of stretches shorter than the limit, so many at once. */
function gather(stretches: readonly Stretch[], limitMs: number, window: number): Stretch[] {
  const out: Stretch[] = [];
  let run: Stretch[] = [];
  const flush = (): void => {
    out.push(...gathered(run));
    run = [];
  };
  for (const stretch of stretches) {
    const small = stretch.toMs - stretch.fromMs < limitMs;
    if (!small || run.length >= window) flush();
    if (small) run.push(stretch);
    else out.push(stretch);
  }
  flush();
  return out;
}

function gathered(run: readonly Stretch[]): Stretch[] {
  const sums = new Map<string, { longest: Stretch; ms: number }>();
  for (const stretch of run) {
    const ms = stretch.toMs - stretch.fromMs;
    const key = `${stretch.cause}|${stretch.rule ?? ""}|${stretch.by ?? ""}|${stretch.device ?? ""}`;
    const sum = sums.get(key);
    if (sum === undefined) sums.set(key, { longest: stretch, ms });
    else {
      if (ms > sum.longest.toMs - sum.longest.fromMs) sum.longest = stretch;
      sum.ms += ms;
    }
  }
  let atMs = run[0]?.fromMs ?? 0;
  return [...sums.values()].map(({ longest, ms }) => {
    const fromMs = atMs;
    atMs += ms;
    return { ...longest, fromMs, toMs: atMs };
  });
}
