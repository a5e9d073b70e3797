// What a policy is: a pure preference. Everything that must hold for every policy is in decide.ts and guards.ts.

import type { z } from "zod";
import type { Band } from "../domain/band.ts";
import type { DecisionReason, Scored, Spend } from "../domain/decision.ts";
import type { JobId, ModelName } from "../domain/ids.ts";
import type { Ranking } from "../domain/ranking.ts";
import type { ModelView, Snapshot } from "./snapshot.ts";

/** Why a model may not be chosen now. */
export interface Barrier {
  readonly code: "no_room" | "paused" | "blocked" | "back_off" | "busy";
  /** For the decision's `why_not`; says nothing that changes with time alone. */
  readonly words: string;
  /** When time alone lifts it; null: never. */
  readonly untilMs: number | null;
}

/** A model and whether it may be chosen now: be loaded, or, when it is resident, be served. */
export interface Candidate extends ModelView {
  readonly resident: boolean;
  readonly eligible: boolean;
  /** Null when it is eligible. */
  readonly barrier: Barrier | null;
  /** 0 when nothing waits. */
  readonly oldestWaitMs: number;
  /**
   * Who would have to go for it, those that are worth least to keep first; empty when it fits beside what is loaded, and
   * for what is loaded itself. A device that holds one model at a time: whatever is loaded.
   */
  readonly victims: readonly Tenant[];
}

/** A model that is loaded on the device. */
export interface Tenant extends Candidate {
  readonly sinceMs: number;
  /** Since when it has had nothing queued and nothing in flight; null while it has. */
  readonly idleSinceMs: number | null;
  /** 0 while it has work. */
  readonly idleMs: number;
  /** Jobs started since the load. */
  readonly dispatched: number;
  /** Brought in by the ceiling. */
  readonly forced: boolean;
  /** It drains or is being stopped: it starts nothing more, and its memory is not free yet. */
  readonly leaving: boolean;
}

export interface Choice {
  /** The challenger that should be loaded in place of its victims; null, or no challenger: stay. */
  readonly target: ModelName | null;
  /** Of the move, or of staying while others wait. */
  readonly reason: DecisionReason;
  /** One for each candidate, in the order given. */
  readonly scored: readonly Scored[];
  /** When this preference can change with no event: after now, and never too late; null when it cannot. */
  readonly nextLookAtMs: number | null;
  /** How many jobs of each loaded model may start before the policy is asked again. */
  readonly serve: number;
  /** The only loaded model that may start any; absent or null: each. */
  readonly turn?: ModelName | null;
  /** The queued job of the resident that starts before those ranked ahead of it; absent or null: none. */
  readonly first?: JobId | null;
  /** What the rule compared, by name, for the sentence. */
  readonly numbers?: Readonly<Record<string, number>>;
  /** Whom the resident is kept against, and whose claim `numbers` weigh; absent or null: the best score, else the longest wait. */
  readonly about?: ModelName | null;
  /** What the move to `target` takes from the budget; absent or null: nothing. */
  readonly spend?: Spend | null;
}

/**
 * What `choose` gets: the snapshot with eligibility worked out, and for each model that waits the loaded ones that would
 * have to go. It is asked each time, for its arithmetic and `serve`; `target`, `reason` and `nextLookAtMs` count only while
 * there is a challenger. When a guard keeps a victim of its target, it is asked again without the challengers that have
 * the same victims.
 */
export interface Field {
  readonly snapshot: Snapshot;
  readonly candidates: readonly Candidate[];
  /** What is loaded, in the order in which it was. */
  readonly tenants: readonly Tenant[];
  /** Models with demand that are not loaded and may be now. */
  readonly challengers: readonly Candidate[];
}

export interface Policy<Settings = unknown> {
  readonly name: string;
  readonly settings: z.ZodType<Settings>;
  /** The keys of `settings`, as they stand in the configuration. */
  readonly keys: readonly string[];
  /** Null: off unless set. */
  readonly guardDefaults: { readonly minResidencySeconds: number | null; readonly maxWaitSeconds: number | null };
  /** In what order the jobs of one model run. */
  ranking(settings: Settings): Ranking;
  /** After which an arrival counts half in `BandView.arrivals`; absent: ten minutes. */
  rateHalfLifeMs?(settings: Settings): number;
  /**
   * How many points of priority being resident is worth, when callers' priorities are compared across models; null when
   * they order jobs inside a model only.
   */
  residentPoints(settings: Settings): number | null;
  /**
   * The longest that a model with waiting work goes without a load beginning, on a device that holds one model at a time.
   * Absent: the policy promises nothing, and only a ceiling does.
   */
  visitBoundMs?(facts: VisitFacts, settings: Settings): number;
  choose(field: Field, settings: Settings): Choice;
}

/** What a bound is made of. */
export interface VisitFacts {
  /** Of the job that waits: a more urgent one only makes the bound shorter. */
  readonly band: Band;
  /** To load and unload each model that may want the place, this one among them. */
  readonly switchMs: readonly number[];
  /** The longest that running jobs are waited for. */
  readonly drainMs: number;
}

/** Rules above the policies; durations in ms, null switches a guard off. */
export interface GuardSettings {
  readonly minResidencyMs: number | null;
  readonly maxWaitMs: number | null;
  readonly switchCostWeight: number;
  readonly serveBeforeSwap: "residency" | "once" | false;
}

/** A policy with its settings checked; hides their type, so that engine and simulator can hold any. */
export interface BoundPolicy {
  readonly name: string;
  readonly ranking: Ranking;
  readonly guards: GuardSettings;
  /** After which an arrival counts half in `BandView.arrivals`; absent: ten minutes. */
  readonly rateHalfLifeMs?: number;
  /** As `Policy.residentPoints`; absent counts as null. */
  readonly residentPoints?: number | null;
  visitBoundMs?(facts: VisitFacts): number;
  /** What it runs with, defaults filled in, spelled as in the configuration; for `doctor` and the status page. */
  readonly settings?: Readonly<Record<string, unknown>>;
  choose(field: Field): Choice;
}

/** Typed identity. */
export function definePolicy<Settings>(policy: Policy<Settings>): Policy<Settings> {
  return policy;
}
