// What a policy is: a pure preference. Everything that must hold for every policy is in decide.ts and guards.ts.

import type { z } from "zod";
import type { DecisionReason, Scored } from "../domain/decision.ts";
import type { ModelName } from "../domain/ids.ts";
import type { ModelView, Snapshot } from "./snapshot.ts";

/** A model and whether it may be chosen now. */
export interface Candidate extends ModelView {
  readonly resident: boolean;
  readonly eligible: boolean;
  /** In words, when it is not eligible. */
  readonly whyNot: string | null;
  readonly oldestWaitMs: number;
}

export interface Choice {
  /** The model that should own the device; null or the resident: stay. */
  readonly target: ModelName | null;
  readonly reason: DecisionReason;
  readonly scored: readonly Scored[];
  /** When this preference can change with no event; null when it cannot. */
  readonly nextLookAtMs: number | null;
  /** How many of the resident's jobs may start before the policy is asked again. */
  readonly serve: number;
}

/** What `choose` gets: the snapshot with eligibility worked out. At least one candidate waits and is eligible. */
export interface Field {
  readonly snapshot: Snapshot;
  readonly candidates: readonly Candidate[];
  readonly resident: Candidate | null;
  /** 0 while it has work. */
  readonly residentIdleMs: number;
}

export interface Policy<Settings = unknown> {
  readonly name: string;
  readonly settings: z.ZodType<Settings>;
  /**
   * How many ms of earlier arrival one point of caller's priority is worth inside a model. A job's rank is
   * `acceptedAtMs - priority x msPerPoint`, constant for its life, because all jobs age at one rate.
   */
  msPerPoint(settings: Settings): number;
  choose(field: Field, settings: Settings): Choice;
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
  readonly msPerPoint: number;
  readonly guards: GuardSettings;
  choose(field: Field): Choice;
}

/** Typed identity. */
export function definePolicy<Settings>(policy: Policy<Settings>): Policy<Settings> {
  return policy;
}
