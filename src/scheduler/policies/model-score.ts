// The founding rule: a model's claim grows with its oldest job's wait and with its depth, and what a swap costs is
// charged to whoever would cause it.
//
//   score = priority x (ageWeight x oldest wait in s + depthWeight x depth) - charged switch cost
//
// The cost is switchCostWeight x the load's seconds, and lapses once the resident has idled so long: the device was
// worth nothing to anybody for as long as the swap would have taken. Ties go to the resident, then to the configuration.

import { z } from "zod";
import type { Candidate, Choice, Field } from "../policy.ts";
import { definePolicy } from "../policy.ts";
import { msPerPoint } from "./aging.ts";
import * as keys from "./settings.ts";
import { contenders, firstBy, row } from "./ties.ts";

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
  const waits = each.depth > 0;
  const terms = {
    age_term: waits ? (each.priority * of.ageWeight * each.oldestWaitMs) / 1000 : 0,
    depth_term: waits ? each.priority * of.depthWeight * each.depth : 0,
  };
  const lapseAtMs =
    of.idleLapse && !each.resident && field.residentIdleSinceMs !== null
      ? field.residentIdleSinceMs + of.switchCostWeight * each.loadMs
      : null;
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

/** The earliest whole ms after now at which another claim can take the place of `leader`. */
function nextChange(claims: readonly Claim[], leader: Claim, nowMs: number): number | null {
  let earliest = Number.POSITIVE_INFINITY;
  for (const claim of claims) {
    if (claim.lapsesAtMs !== null) earliest = Math.min(earliest, claim.lapsesAtMs);
    if (claim === leader || claim.slopePerMs <= leader.slopePerMs) continue;
    const crossesAtMs = nowMs + (leader.score - claim.score) / (claim.slopePerMs - leader.slopePerMs);
    // A hair early rather than late, and never before the next whole ms: the sum above is only as exact as a double.
    earliest = Math.min(earliest, Math.max(Math.floor(nowMs) + 1, Math.ceil(crossesAtMs - 1e-3)));
  }
  return Number.isFinite(earliest) ? earliest : null;
}

function choose(field: Field, of: Settings): Choice {
  const claims = field.candidates.map((each) => claimOf(each, field, of));
  const scored = claims.map(({ each, terms, switchCost }) =>
    row(each, each.depth > 0 || each.resident ? terms : null, switchCost),
  );
  const stay = { target: null, reason: "resident_wins", scored, nextLookAtMs: null, serve: Infinity } as const;
  const claimFor = new Map(claims.map((claim) => [claim.each.model, claim]));
  const resident = field.resident?.eligible ? claimFor.get(field.resident.model) : undefined;
  const open = contenders(field.candidates).flatMap((each) => claimFor.get(each.model) ?? []);
  const beats = (claim: Claim): boolean =>
    claim !== resident && (resident === undefined || claim.lapsed || claim.score > resident.score);
  const scoreOf = (each: Candidate): number => claimFor.get(each.model)?.score ?? Number.NEGATIVE_INFINITY;
  const best = firstBy(
    open.filter(beats).map(({ each }) => each),
    (a, b) => scoreOf(b) - scoreOf(a),
  );
  const winner = best === null ? resident : claimFor.get(best.model);
  if (winner === undefined) return stay;
  const rivals = resident === undefined || open.includes(resident) ? open : [...open, resident];
  const nextLookAtMs = nextChange(rivals, winner, field.snapshot.nowMs);
  if (winner === resident) return { ...stay, nextLookAtMs };
  const idle = field.residentIdleSinceMs;
  const idleLongEnough = idle !== null && field.snapshot.nowMs >= idle + of.switchCostWeight * winner.each.loadMs;
  return {
    ...stay,
    target: winner.each.model,
    reason: idleLongEnough ? "resident_idle" : "challenger_wins",
    nextLookAtMs,
  };
}

export const modelScore = definePolicy<Settings>({
  name: "model-score",
  settings,
  keys: Object.keys(settings.shape),
  guardDefaults: { minResidencySeconds: 30, maxWaitSeconds: 120 },
  msPerPoint: (of) => msPerPoint(of.agingDivisorSeconds),
  residentPoints: () => null,
  choose,
});
