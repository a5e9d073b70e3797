// A command that shows, on recorded traffic, what another setting would have done for a wait like this one.

import type { Life, Part } from "../domain/life.ts";
import type { HoldRule } from "../domain/wait.ts";

/** A wait shorter than this is not worth another setting. */
const WORTH_MS = 10_000;
const WORTH_SHARE = 0.2;
/** Traffic before the job's own, so that the queues are as they were; and after it, to see who loses. */
const BEFORE_MS = 3_600_000;
const AFTER_MS = 600_000;
/** Seconds that people would write. */
const ROUND = [1, 2, 3, 5, 10, 15, 20, 30, 45, 60, 120, 180, 300, 600, 900, 1_200, 1_800, 3_600, 7_200, 10_800, 21_600];

/** Rules that a ceiling overrides, under every policy. */
const BY_CEILING: readonly HoldRule[] = ["score", "order", "not_worth", "budget", "quantum"];

/** Null: no setting of the scheduler would have helped. The instants are in UTC, so that they hold wherever it is typed. */
export function tryLine({ job, waitMs, totalMs, final }: Life, top: Part): string | null {
  if (top.ms < WORTH_MS || top.ms / Math.max(1, waitMs) < WORTH_SHARE) return null;
  const set = otherSetting(top);
  if (set === null) return null;
  const from = minute(job.createdAtMs - BEFORE_MS, Math.floor);
  const to = final ? ` --to ${minute(job.createdAtMs + totalMs + AFTER_MS, Math.ceil)}` : "";
  return `sir replay --set ${set} --from ${from}${to}`;
}

function otherSetting({ cause, rule, ms }: Part): string | null {
  if (cause === "draining") return `drainSeconds=${rounded(ms / 4_000)}`;
  if (cause !== "held" || rule === null) return null;
  if (BY_CEILING.includes(rule)) return `maxWaitSeconds=${rounded(ms / 2_000)}`;
  if (rule === "min_residency") return "minResidencySeconds=0";
  return rule === "likely_needed" ? "hold=0" : null;
}

/** The largest round number of seconds that is not above it. */
function rounded(seconds: number): number {
  return ROUND.findLast((each) => each <= seconds) ?? 1;
}

function minute(wallMs: number, round: (value: number) => number): string {
  return `${new Date(round(wallMs / 60_000) * 60_000).toISOString().slice(0, 16)}Z`;
}
