// Whether settings on trial have done harm: the traffic since then is replayed under what held before, and each band's
// p99 as it was is held against the replayed one. Where a replay cannot be trusted, nothing is said.

import { BANDS } from "../domain/band.ts";
import type { Tuning } from "../domain/tuning.ts";
import type { Judgement } from "../engine/tuner.ts";
import type { History } from "../store/history.ts";
import { accountOf, fidelityOf } from "./compare.ts";
import { recordedOutcome } from "./outcome.ts";
import { recordedWork } from "./recorded-work.ts";
import { readTraffic, TrafficError } from "./traffic.ts";
import { MOST_P99_HARM } from "./tune-verdict.ts";
import { whatIf } from "./what-if.ts";

/** The newest traffic speaks; more of it would cost the serving process more time. */
const LONGEST_MS = 86_400_000;
const MOST_JOBS = 20_000;
/** A band's p99 of fewer jobs is an accident. */
const LEAST_JOBS = 50;
const SLACK_SECONDS = 1;

export async function judgeTuning(history: History, tuning: Tuning, nowMs: number): Promise<Judgement> {
  const nothing = (sentence: string): Judgement => ({ harm: false, sentence });
  const range = { fromMs: Math.max(tuning.atMs, nowMs - LONGEST_MS), toMs: nowMs };
  if (range.fromMs >= range.toMs) return nothing("no time has passed");
  try {
    const traffic = await readTraffic(history, range, MOST_JOBS);
    const work = recordedWork(traffic);
    const recorded = recordedOutcome(traffic);
    const again = await whatIf(traffic, work, { title: "again" });
    const fidelity = fidelityOf(recorded, again);
    if (!fidelity.faithful) return nothing(`its replay is not faithful: ${fidelity.sentence}`);
    const { policy, base } = tuning;
    const before = accountOf(await whatIf(traffic, work, { title: "before", change: { policy, set: base } }));
    const now = accountOf(recorded);
    for (const band of BANDS) {
      const [was, is] = [before.bands[band].p99Seconds, now.bands[band].p99Seconds];
      if (now.bands[band].jobs < LEAST_JOBS || is - was <= SLACK_SECONDS || is <= was * (1 + MOST_P99_HARM)) continue;
      const text = `the p99 of ${band} jobs is ${is.toFixed(1)} s and would have been ${was.toFixed(1)} s`;
      return { harm: true, sentence: `${text} under the settings before` };
    }
    return nothing(
      `${now.all.jobs} jobs were looked at, and no band's p99 is a tenth above the replay of the settings before`,
    );
  } catch (error) {
    if (error instanceof TrafficError) return nothing(error.message);
    throw error;
  }
}
