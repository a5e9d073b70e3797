// Recorded traffic beside what other settings would have made of it, as one report: what happened, the settings that ran
// once more, and each change. The command line and the router's own replays print this very document.

import type { Other, ReplayReport } from "../client/wire-replay.ts";
import type { Range } from "../store/history.ts";
import { accountOf, fidelityOf, movedCounts, movedMost } from "./compare.ts";
import { type Outcome, recordedOutcome } from "./outcome.ts";
import { type RecordedWork, recordedWork } from "./recorded-work.ts";
import type { Traffic } from "./traffic.ts";
import { type Change, whatIf } from "./what-if.ts";

const MOVED = 5;

interface TitledChange extends Change {
  readonly title: string;
}

export interface SideBySideOptions {
  readonly range: Range;
  /** Where the traffic was read, in words. */
  readonly source: string;
  readonly changes: readonly TitledChange[];
  /** Whether the settings that ran are replayed as well. */
  readonly again: boolean;
  /** Told now and then: which run, and the share of its time that has passed, 0 to 1. */
  readonly onProgress?: (title: string, share: number) => void;
}

export interface SideBySide {
  readonly report: ReplayReport;
  /** In the order of the report's accounts. */
  readonly outcomes: readonly Outcome[];
}

/** @throws {ConfigError} when settings are refused */
export async function sideBySide(traffic: Traffic, options: SideBySideOptions): Promise<SideBySide> {
  const { range, source, changes, onProgress } = options;
  const recorded = recordedOutcome(traffic);
  const work = recordedWork(traffic);
  const run = (title: string, change: Change): Promise<Outcome> =>
    whatIf(traffic, work, { title, change, onProgress: (share) => onProgress?.(title, share) });
  const again = options.again ? await run("replayed", {}) : null;
  const others: Outcome[] = [];
  for (const { title, ...change } of changes) others.push(await run(title, change));
  const ran = policyThatRan(traffic);
  const base = again ?? recorded;
  const outcomes = [recorded, ...(again === null ? [] : [again]), ...others];
  const report: ReplayReport = {
    object: "replay",
    from: new Date(range.fromMs).toISOString(),
    to: new Date(range.toMs).toISOString(),
    source,
    jobs: recorded.jobs.length,
    policy: ran,
    fidelity: again === null ? null : fidelityOf(recorded, again),
    notes: [...traffic.notes, ...slowdownNotes(work)],
    accounts: outcomes.map(accountOf),
    others: others.map((outcome, i) => otherOf(base, outcome, { policy: ran, ...changes[i] })),
    charts: [],
  };
  return { report, outcomes };
}

export function policyThatRan({ setups }: Traffic): string {
  return setups[0]?.setup.effective.policy ?? "";
}

/** As it is typed: `longest maxWaitSeconds=600`. */
export function titleOf({ policy, set = {} }: Change): string {
  const words = Object.entries(set).map(
    ([key, value]) => `${key}=${typeof value === "string" ? value : JSON.stringify(value)}`,
  );
  return [...(policy === undefined ? [] : [policy]), ...words].join(" ");
}

function otherOf(base: Outcome, outcome: Outcome, { policy, set = {} }: Change & { readonly policy: string }): Other {
  const { gained, lost } = movedMost(base, outcome, MOVED);
  const counts = movedCounts(base, outcome);
  return { title: outcome.title, policy, set, against: base.title, ...counts, gainedMost: gained, lostMost: lost };
}

function slowdownNotes({ models }: RecordedWork): string[] {
  const guessed = [...models.values()].filter((model) => !model.slowdownMeasured && model.loads.length > 0);
  if (guessed.length === 0) return [];
  const names = guessed.map(({ name }) => name).join(", ");
  return [`How much jobs of ${names} slow each other down is a guess that nothing recorded contradicts.`];
}
