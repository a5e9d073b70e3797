// The founding rule: a model's claim grows with its oldest job's wait and with its depth, and what a swap costs is
// charged to whoever would cause it.
//
//   score = priority x (ageWeight x oldest wait in s + depthWeight x depth) - charged switch cost
//
// The cost is switchCostWeight x the load's seconds, and lapses once the resident has idled so long: the device was
// worth nothing to anybody for as long as the swap would have taken. Ties go to the resident, then to the configuration.

import { z } from "zod";
import type { Candidate, Choice, Field, Tenant } from "../policy.ts";
import { definePolicy } from "../policy.ts";
import { aging } from "./aging.ts";
import * as keys from "./settings.ts";
import { firstBy, row } from "./ties.ts";

const settings = z.object({
  ageWeight: keys.ageWeight.default(1),
  depthWeight: keys.depthWeight.default(0.5),
  switchCostWeight: keys.switchCostWeight.default(1),
  idleLapse: keys.idleLapse.default(true),
  agingDivisorSeconds: keys.agingDivisorSeconds.default(60),
});
type Settings = z.infer<typeof settings>;

/** A candidate's score as a line over time. */
interface Claim {
  readonly each: Candidate;
  readonly terms: Readonly<Record<string, number>>;
  readonly switchCost: number;
  readonly score: number;
  readonly slopePerMs: number;
  /** When the charge lapses if the resident stays idle; null when it does not, or has. */
  readonly lapsesAtMs: number | null;
  /** The resident has idled for longer than this one's load is worth: it needs no more than a waiting job. */
  readonly lapsed: boolean;
}

function claimOf(each: Candidate, field: Field, of: Settings): Claim {
  const { nowMs } = field.snapshot;
  const idleSinceMs = idleSince(each.victims);
  const waits = each.depth > 0;
  const terms = {
    age_term: waits ? (each.priority * of.ageWeight * each.oldestWaitMs) / 1000 : 0,
    depth_term: waits ? each.priority * of.depthWeight * each.depth : 0,
  };
  const lapseAtMs = of.idleLapse && idleSinceMs !== null ? idleSinceMs + of.switchCostWeight * each.loadMs : null;
  const lapsed = waits && lapseAtMs !== null && nowMs >= lapseAtMs;
  const switchCost = !waits || each.resident || lapsed ? 0 : (of.switchCostWeight * each.loadMs) / 1000;
  return {
    each,
    terms,
    switchCost,
    score: terms.age_term + terms.depth_term - switchCost,
    slopePerMs: waits ? (each.priority * of.ageWeight) / 1000 : 0,
    lapsesAtMs: waits && lapseAtMs !== null && nowMs < lapseAtMs ? lapseAtMs : null,
    lapsed,
  };
}

/** Since when every one of them has had no work; null while one has, and when there are none. */
function idleSince(victims: readonly Tenant[]): number | null {
  if (victims.length === 0) return null;
  return victims.reduce<number | null>(
    (latest, { idleSinceMs }) => (latest === null || idleSinceMs === null ? null : Math.max(latest, idleSinceMs)),
    Number.NEGATIVE_INFINITY,
  );
}

/** The earliest whole ms after now at which another of these claims can take the place of a leader. */
function nextChange(claims: readonly Claim[], leaders: readonly Claim[], nowMs: number): number | null {
  const looks: (number | null)[] = claims.map(({ lapsesAtMs }) => lapsesAtMs);
  for (const leader of leaders) {
    for (const claim of claims) {
      if (leaders.includes(claim) || claim.score > leader.score || claim.slopePerMs <= leader.slopePerMs) continue;
      const crossesAtMs = nowMs + (leader.score - claim.score) / (claim.slopePerMs - leader.slopePerMs);
      // A hair early rather than late, and never before the next whole ms: the sum above is only as exact as a double.
      looks.push(Math.max(Math.floor(nowMs) + 1, Math.ceil(crossesAtMs - 1e-3)));
    }
  }
  return earliest(looks);
}

function earliest(looks: readonly (number | null)[]): number | null {
  return looks.reduce((first, each) => (first === null || (each !== null && each < first) ? each : first), null);
}

function choose(field: Field, of: Settings): Choice {
  const claims = field.candidates.map((each) => claimOf(each, field, of));
  const scored = claims.map(({ each, terms, switchCost }) =>
    row(each, each.depth > 0 || each.resident ? terms : null, switchCost),
  );
  const stay = { target: null, reason: "resident_wins", scored, nextLookAtMs: null, serve: Infinity } as const;
  const claimFor = new Map(claims.map((claim) => [claim.each.model, claim]));
  const claimsOf = (all: readonly Candidate[]): Claim[] => all.flatMap(({ model }) => claimFor.get(model) ?? []);
  const against = ({ each }: Claim): Claim[] => claimsOf(each.victims.filter(({ eligible }) => eligible));
  const challengers = claimsOf(field.challengers);
  const beats = (claim: Claim): boolean => claim.lapsed || against(claim).every(({ score }) => claim.score > score);
  const scoreOf = ({ model }: Candidate): number => claimFor.get(model)?.score ?? Number.NEGATIVE_INFINITY;
  const best = firstBy(
    challengers.filter(beats).map(({ each }) => each),
    (a, b) => scoreOf(b) - scoreOf(a),
  );
  const { nowMs } = field.snapshot;
  const winner = best === null ? undefined : claimFor.get(best.model);
  if (winner === undefined) {
    const looks = challengers.map((claim) => nextChange([claim, ...against(claim)], against(claim), nowMs));
    return { ...stay, nextLookAtMs: earliest(looks) };
  }
  const rivals = new Set([...challengers, ...challengers.flatMap(against)]);
  const idleSinceMs = idleSince(winner.each.victims);
  const idleLongEnough = idleSinceMs !== null && nowMs >= idleSinceMs + of.switchCostWeight * winner.each.loadMs;
  return {
    ...stay,
    target: winner.each.model,
    reason: idleLongEnough ? "resident_idle" : "challenger_wins",
    nextLookAtMs: nextChange([...rivals], [winner], nowMs),
  };
}

export const modelScore = definePolicy<Settings>({
  name: "model-score",
  settings,
  keys: Object.keys(settings.shape),
  guardDefaults: { minResidencySeconds: 30, maxWaitSeconds: 120 },
  ranking: (of) => aging(of.agingDivisorSeconds),
  residentPoints: () => null,
  choose,
});
