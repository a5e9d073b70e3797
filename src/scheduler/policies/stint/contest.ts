// Who wants the place of whom: all models that wait and would have the same loaded ones go. On a device that holds one
// model at a time that is one contest; on one that packs there is one for each set of victims.

import type { DecisionReason, Spend } from "../../../domain/decision.ts";
import type { Candidate, Field, Tenant } from "../../policy.ts";
import { aloneSeconds, slowness } from "../../weigh.ts";
import { firstBy } from "../ties.ts";
import { type Block, blocksOf, densest, switchSeconds } from "./queue.ts";
import type { Settings } from "./settings.ts";

export interface Challenger {
  readonly each: Candidate;
  /** S. */
  readonly switchSeconds: number;
  readonly blocks: readonly Block[];
  readonly best: Block;
}

export interface Contest {
  readonly nowMs: number;
  /** When anything last happened; what only matters at events is judged as of then. */
  readonly eventAtMs: number;
  readonly challengers: readonly Challenger[];
  /** The loaded models that would go and could go on serving. */
  readonly victims: readonly Tenant[];
  /** S of the victims together: to have them back. */
  readonly backSeconds: number;
  readonly queued: number;
  readonly inFlight: number;
  /** Since when nothing on the device has had work, the victims or what stays; null while something has. */
  readonly idleSinceMs: number | null;
  /** The challenger of the highest density. */
  readonly densest: Challenger;
}

/** What a rule says of a contest. Null: the next rule speaks. */
export type Ruling =
  | {
      readonly kind: "move";
      readonly target: Challenger;
      readonly reason: DecisionReason;
      readonly numbers: Numbers;
      readonly spend: Spend | null;
    }
  | { readonly kind: "stay"; readonly reason: DecisionReason; readonly about: Challenger; readonly numbers: Numbers };

export type Numbers = Readonly<Record<string, number>>;

/** A ruling, and the instants at which time alone can change it. */
export interface Ruled {
  readonly ruling: Ruling | null;
  readonly looksMs: readonly (number | null)[];
}

export function contestsOf({ snapshot, challengers, tenants }: Field, of: Settings): Contest[] {
  const { nowMs, device } = snapshot;
  const groups = new Map<string, Candidate[]>();
  for (const each of challengers) {
    const key = JSON.stringify(each.victims.map(({ model }) => model).sort());
    groups.set(key, [...(groups.get(key) ?? []), each]);
  }
  return [...groups.values()].flatMap((group) => {
    // In the configuration's order, so that sums come out the same to the last bit.
    const made = group.sort((a, b) => a.order - b.order).map((each) => challengerOf(each, nowMs, of));
    const first = leading(made);
    if (first === null) return [];
    const victims = first.each.victims.filter(({ eligible }) => eligible);
    const sum = (of: (each: Tenant) => number): number => victims.reduce((total, each) => total + of(each), 0);
    return [
      {
        nowMs,
        eventAtMs: Math.min(nowMs, device.eventAtMs),
        challengers: made,
        victims,
        backSeconds: sum(switchSeconds),
        queued: sum(({ depth }) => depth),
        inFlight: sum(({ inFlight }) => inFlight),
        idleSinceMs: idleSince(tenants),
        densest: first,
      },
    ];
  });
}

function idleSince(tenants: readonly Tenant[]): number | null {
  return tenants.reduce<number | null>(
    (latest, each) => (latest === null || each.idleSinceMs === null ? null : Math.max(latest, each.idleSinceMs)),
    Number.NEGATIVE_INFINITY,
  );
}

function challengerOf(each: Candidate, nowMs: number, of: Settings): Challenger {
  const setup = switchSeconds(each);
  const blocks = blocksOf(each, setup, nowMs, of);
  return { each, switchSeconds: setup, blocks, best: densest(blocks) };
}

function leading(challengers: readonly Challenger[]): Challenger | null {
  return best(challengers, (a, b) => b.best.density - a.best.density);
}

/** The first by `compare`, then by the configuration's order; null when there is none. */
export function best(
  challengers: readonly Challenger[],
  compare: (a: Challenger, b: Challenger) => number,
): Challenger | null {
  const of = new Map(challengers.map((challenger) => [challenger.each, challenger]));
  const order = (a: Candidate, b: Candidate): number => {
    const [left, right] = [of.get(a), of.get(b)];
    return left === undefined || right === undefined ? 0 : compare(left, right);
  };
  const first = firstBy([...of.keys()], order);
  return first === null ? null : (of.get(first) ?? null);
}

/** Until what runs on the victims now is done, judged by one job beside the others. */
export function leftSeconds({ victims }: Contest): number {
  return victims.reduce((longest, each) => Math.max(longest, runSeconds(each)), 0);
}

function runSeconds(victim: Tenant): number {
  return victim.inFlight === 0 ? 0 : aloneSeconds(victim) * slowness(victim, victim.inFlight);
}

/**
 * When another challenger, or another block of the leader, can become the densest: not later than that. Densities grow
 * along straight lines.
 */
export function overtakenAtMs({ challengers, densest: leader, nowMs }: Contest): number | null {
  let earliest: number | null = null;
  for (const { blocks } of challengers) {
    for (const { density, slope } of blocks) {
      if (slope <= leader.best.slope) continue;
      const crossesAtMs = nowMs + ((leader.best.density - density) / (slope - leader.best.slope)) * 1_000;
      const lookMs = Math.max(Math.floor(nowMs) + 1, Math.ceil(crossesAtMs - 1e-3));
      if (earliest === null || lookMs < earliest) earliest = lookMs;
    }
  }
  return earliest;
}
