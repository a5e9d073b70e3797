// stint: the loaded model is served in one stint until another's claim is worth more than staying, with everything
// weighed in the same unit, weighted seconds of waiting. For each contest of challengers for the same place, the first rule
// that speaks:
//
//   0. serve-first  a loaded model with work has started at least one job.
//   1. visit        a model that has gone unvisited for too long comes in, after the loaded one's turn.
//   2. deadline     a job whose deadline can only just be met comes in, if the budget allows.
//   3. worth        into a queue: if it saves more than it costs for every prefix of that queue, and the budget allows.
//   4. free         into an empty queue: once the debt of waiting has reached the price of leaving.
//
// Of several contests' moves a visit is first, then a deadline, then the densest. What fits beside what is loaded needs no
// rule. How it was found, its bounds and its numbers: ../../README.md.

import type { ModelName } from "../../../domain/ids.ts";
import { type Candidate, type Choice, definePolicy, type Field } from "../../policy.ts";
import { drainSeconds, weightOf } from "../../weigh.ts";
import { row } from "../ties.ts";
import { type Purse, purseOf } from "./budget.ts";
import { type Contest, contestsOf, type Ruled, type Ruling } from "./contest.ts";
import { free } from "./free.ts";
import { blocksOf, debtOf, densest, switchSeconds } from "./queue.ts";
import { rescue, urgent } from "./rescue.ts";
import { type Settings, settings } from "./settings.ts";
import { servesFirst, visit, visitBoundMs } from "./visit.ts";
import { worth } from "./worth.ts";

type Move = Extract<Ruling, { kind: "move" }>;
type Stay = Extract<Ruling, { kind: "stay" }>;

function choose(field: Field, of: Settings): Choice {
  const { nowMs } = field.snapshot;
  const purse = purseOf(field, of);
  const ruled = contestsOf(field, of).map((contest) => rule(contest, field, purse, of));
  const first = urgent(field.tenants, Math.min(nowMs, field.snapshot.device.eventAtMs), of);
  const looks = ruled.flatMap((each) => each.looksMs).filter((each) => each !== null && each > nowMs);
  const move = ruled.reduce<Move | null>(
    (best, { ruling }) => (ruling?.kind === "move" && (best === null || precedes(ruling, best)) ? ruling : best),
    null,
  );
  const stay = ruled.reduce<Stay | null>(
    (best, { ruling }) => (ruling?.kind === "stay" && (best === null || precedes(ruling, best)) ? ruling : best),
    null,
  );
  const choice = {
    scored: field.candidates.map((each) => scoredOf(each, nowMs, of)),
    nextLookAtMs: looks.reduce(
      (earliest: number | null, each) => Math.min(earliest ?? Infinity, each ?? Infinity),
      null,
    ),
    serve: first === null ? Number.POSITIVE_INFINITY : 1,
    first,
  };
  if (move !== null) {
    const { target, reason, numbers, spend } = move;
    return { ...choice, target: target.each.model, reason, numbers, spend };
  }
  const about: ModelName | null = stay?.about.each.model ?? null;
  return { ...choice, target: null, reason: stay?.reason ?? "finish", numbers: stay?.numbers ?? {}, about };
}

function rule(contest: Contest, { snapshot }: Field, purse: Purse, of: Settings): Ruled {
  const { victims, densest: target } = contest;
  if (victims.length === 0) {
    return { ruling: { kind: "move", target, reason: "cold", numbers: {}, spend: null }, looksMs: [] };
  }
  const fresh = servesFirst(contest);
  if (fresh !== null) return { ruling: fresh, looksMs: [] };
  const visited = visit(contest, of);
  if (visited.ruling !== null) return visited;
  const rescued = rescue(contest, purse, of);
  const looksMs = [...visited.looksMs, ...rescued.looksMs];
  if (rescued.ruling !== null) return { ruling: rescued.ruling, looksMs };
  const last = worth(contest, snapshot.device.busyShare, purse, of) ?? free(contest, of);
  return { ruling: last.ruling, looksMs: [...looksMs, ...last.looksMs] };
}

const URGENCY = ["visit", "deadline"];

/** A visit before a deadline before the rest, of equals the denser, then the configuration's order. */
function precedes(a: Ruling, b: Ruling): boolean {
  const urgency = ({ reason }: Ruling): number => (URGENCY.indexOf(reason) + URGENCY.length + 1) % (URGENCY.length + 1);
  const subject = (each: Ruling) => (each.kind === "move" ? each.target : each.about);
  const [left, right] = [subject(a), subject(b)];
  return (urgency(a) - urgency(b) || right.best.density - left.best.density || left.each.order - right.each.order) < 0;
}

/** A row of the decision; the score is the density, which picks among challengers. */
function scoredOf(each: Candidate, nowMs: number, of: Settings): Choice["scored"][number] {
  if (each.depth === 0) return row(each, null);
  const setup = each.resident ? 0 : switchSeconds(each);
  const { density } = densest(blocksOf(each, setup, nowMs, of));
  const terms = {
    weight: weightOf(each, nowMs, of),
    debt: debtOf(each, nowMs, of),
    density,
    drain_seconds: drainSeconds(each, each.depth),
    switch_seconds: setup,
  };
  return { ...row(each, terms), score: density };
}

export const stint = definePolicy<Settings>({
  name: "stint",
  settings,
  keys: Object.keys(settings.shape),
  guardDefaults: { minResidencySeconds: null, maxWaitSeconds: null },
  ranking: ({ doublesSeconds }) => ({
    kind: "bands",
    msPerPoint: 60_000,
    lagMs: { interactive: 0, normal: doublesSeconds.normal * 1_000, batch: doublesSeconds.batch * 1_000 },
  }),
  rateHalfLifeMs: ({ rateHalfLifeSeconds }) => rateHalfLifeSeconds * 1_000,
  residentPoints: () => 0,
  visitBoundMs,
  choose,
});
