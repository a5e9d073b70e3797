// Who does what on a simulated day, drawn from its seed: sessions of steady callers, bursts, and lone requests.

import { createSeeded, type Seeded } from "../../src/simulator/seeded.ts";
import { DAY_MS, type DayFacts, HOUR_MS, LIMITS, MINUTE_MS } from "./facts.ts";
import type { Behaviour, Plan } from "./ledger.ts";

const BEHAVIOURS: readonly (readonly [Behaviour, number])[] = [
  ["patient", 45],
  ["long_poll", 12],
  ["abandon", 13],
  ["cancel", 12],
  ["sync", 10],
  ["sync_drop", 8],
];

/** Faults stop after this, so that the rest of the day shows whether everything comes to its end. */
export const STORM_MS = DAY_MS - 2 * HOUR_MS;

export function plansOf(facts: DayFacts): Plan[] {
  const seeded = createSeeded(facts.seed).fork("plans");
  const plans: Plan[] = [];
  while (plans.length < Math.min(facts.submissions, LIMITS.jobs)) {
    const startMs = seeded.uniform(0, STORM_MS - 10 * MINUTE_MS);
    const model = seeded.pick(facts.engines).name;
    const count = seeded.pick([1, 1, 2, 5, 12, 30]);
    const gapMs = seeded.pick([0, 200, 5_000, 60_000]);
    let atMs = startMs;
    for (let i = 0; i < count && atMs < STORM_MS; i++) {
      plans.push(
        planOf(seeded, facts, seeded.chance(0.85) ? model : seeded.pick(facts.engines).name, atMs, plans.length),
      );
      atMs += gapMs === 0 ? 0 : seeded.exponential(gapMs);
    }
  }
  return plans.slice(0, LIMITS.jobs).sort((a, b) => a.atMs - b.atMs);
}

function planOf(seeded: Seeded, facts: DayFacts, model: string, atMs: number, index: number): Plan {
  const behaviour = weighted(seeded, BEHAVIOURS);
  const leaseMs = seeded.chance(0.7) ? facts.leaseMs : seeded.pick([20_000, 45_000, 300_000]);
  const keyed = seeded.chance(0.45);
  return {
    tag: `s${facts.seed}-${index}`,
    atMs: Math.floor(atMs),
    model,
    behaviour,
    stream: behaviour.startsWith("sync") && seeded.chance(0.5),
    key: keyed ? `key-${facts.seed}-${index}` : null,
    priority: seeded.pick([0, 0, 0, 100, -100, 7]),
    leaseMs,
    deadlineMs: seeded.chance(0.15) ? Math.round(seeded.exponential(10 * MINUTE_MS)) + 1_000 : null,
    pollEveryMs: Math.min(60_000, leaseMs / seeded.uniform(2.2, 4)),
    patienceMs: Math.round(seeded.exponential(90_000)),
    repeatAfterMs: keyed && seeded.chance(0.4) ? Math.round(seeded.exponential(3 * MINUTE_MS)) : null,
  };
}

function weighted<T>(seeded: Seeded, choices: readonly (readonly [T, number])[]): T {
  const total = choices.reduce((sum, [, weight]) => sum + weight, 0);
  let left = seeded.uniform(0, total);
  for (const [choice, weight] of choices) {
    left -= weight;
    if (left < 0) return choice;
  }
  return seeded.pick(choices)[0];
}
