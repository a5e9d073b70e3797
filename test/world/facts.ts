// The size of a simulated day and its ground truth: which models there are, and what can go wrong with each engine.

import { createSeeded, type Seeded } from "../../src/simulator/seeded.ts";

export const MINUTE_MS = 60_000;
export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;

export interface EngineFacts {
  readonly name: string;
  readonly loadMs: number;
  readonly unloadMs: number;
  readonly runMs: number;
  readonly concurrency: number;
  /** Shares of loads. */
  readonly failLoad: number;
  readonly hangLoad: number;
  /** Shares of attempts; what is left succeeds. */
  readonly runFaults: Readonly<Record<RunFault, number>>;
  /** From and to: every load fails in between. */
  readonly broken: readonly [fromMs: number, toMs: number] | null;
}

export const RUN_FAULTS = ["refuse", "error", "busy", "lost", "die", "garbage", "hang", "deaf"] as const;
/**
 * `refuse` 4xx · `error` 5xx · `busy` 429 · `lost` reset before a byte · `die` the engine dies in mid-answer ·
 * `garbage` an answer without its end · `hang` no byte until the timeout · `deaf` slow to close an aborted socket.
 */
export type RunFault = (typeof RUN_FAULTS)[number];

export interface DayFacts {
  readonly seed: number;
  readonly engines: readonly EngineFacts[];
  readonly submissions: number;
  readonly callers: number;
  readonly kills: number;
  /** Restarts in good order. */
  readonly stops: number;
  readonly wallJumps: number;
  readonly leaseMs: number;
  readonly policy: string;
}

export const LIMITS = { jobs: 3_000, polls: 20_000 } as const;

export function dayFacts(seed: number): DayFacts {
  const seeded = createSeeded(seed).fork("facts");
  const names = ["alpha", "beta", "gamma", "delta"].slice(0, seeded.integer(2, 4));
  return {
    seed,
    engines: names.map((name) => engineFacts(seeded, name)),
    submissions: Math.round(seeded.logNormal(500, 0.6)),
    callers: seeded.integer(4, 12),
    kills: seeded.integer(1, 8),
    stops: seeded.integer(0, 3),
    wallJumps: seeded.integer(0, 4),
    leaseMs: seeded.pick([30_000, 60_000, 120_000]),
    policy: seeded.pick(["model-score", "model-score", "fifo", "longest", "serial"]),
  };
}

function engineFacts(seeded: Seeded, name: string): EngineFacts {
  const healthy = seeded.chance(0.4);
  const share = (most: number): number => (healthy ? 0 : seeded.uniform(0, most));
  const brokenFromMs = seeded.uniform(0, DAY_MS);
  return {
    name,
    loadMs: seeded.logNormal(20_000, 0.8),
    unloadMs: seeded.uniform(200, 4_000),
    runMs: seeded.logNormal(8_000, 0.8),
    concurrency: seeded.integer(1, 6),
    failLoad: share(0.15),
    hangLoad: share(0.03),
    runFaults: {
      refuse: share(0.04),
      error: share(0.06),
      busy: share(0.06),
      lost: share(0.05),
      die: share(0.03),
      garbage: share(0.04),
      hang: share(0.01),
      deaf: share(0.05),
    },
    broken: seeded.chance(0.25) ? [brokenFromMs, brokenFromMs + seeded.uniform(0.2, 2) * HOUR_MS] : null,
  };
}
