// The rules by which another model keeps the device, in words: what people call each, what it says, what would change it.

import type { HoldRule } from "../domain/wait.ts";

/** `past`: it is over; else it goes on. */
export type Tense = "past" | "present";

export interface HoldWords {
  readonly title: string;
  /** When it holds, for reference pages. */
  readonly when: string;
  /** Configuration keys, commands or facts, whatever the policy. */
  readonly levers: readonly string[];
  /** What the named policies read beside. */
  readonly ofPolicy?: Readonly<Record<string, readonly string[]>>;
  /** Without a full stop; `by` is a label. */
  phrase(by: string, tense: Tense): string;
}

const CEILING = "scheduler.maxWaitSeconds";
const ROOM = ["devices.*.memoryGiB", "models.*.memoryGiB"] as const;

export const HOLD_WORDS: Readonly<Record<HoldRule, HoldWords>> = {
  score: {
    title: "Outscored by another model",
    when: "The policy scored the model that was loaded higher, or the challenger not high enough to pay for a swap.",
    levers: [CEILING],
    ofPolicy: {
      "model-score": [
        "models.*.priority",
        "scheduler.ageWeight",
        "scheduler.depthWeight",
        "scheduler.switchCostWeight",
      ],
      serial: ["scheduler.swapAffinityBonus", "scheduler.agingDivisorSeconds"],
    },
    phrase: (by, tense) => `${by} ${tense === "past" ? "outscored" : "outscores"} this model`,
  },
  min_residency: {
    title: "Another model's minimum residency",
    when: "The model that was loaded had been so for less than `minResidencySeconds`.",
    levers: ["scheduler.minResidencySeconds", CEILING],
    phrase: (by, tense) => `${by} ${was(tense)} inside its minimum residency`,
  },
  serve_first: {
    title: "Another model's first job",
    when: "The model that was loaded had work and had not started a job since its load.",
    levers: ["scheduler.serveBeforeSwap"],
    phrase: (by, tense) => `${by} ${tense === "past" ? "had" : "has"} just been loaded and not served yet`,
  },
  pinned: {
    title: "Another model is pinned",
    when: "The model that was loaded is pinned, by the configuration or by an operator.",
    levers: ["sir models unpin", "models.*.pinned", ...ROOM],
    phrase: (by, tense) => `${by} ${was(tense)} pinned`,
  },
  no_room: {
    title: "No room on the device",
    when: "It fits on no device beside what is pinned or in use, or the device had not given its memory back.",
    levers: [...ROOM, "models.*.device", "sir models unpin"],
    phrase: (by, tense) => `this model ${tense === "past" ? "did" : "does"} not fit beside ${by}`,
  },
  forced_swap_spent: {
    title: "Another model's turn after a forced swap",
    when: "The ceiling had brought in the model that was loaded, and its turn was not over.",
    levers: ["scheduler.serveBeforeSwap", "scheduler.minResidencySeconds"],
    phrase: (by, tense) =>
      `${by} ${tense === "past" ? "had" : "has"} been brought in by the ceiling and its turn ${was(tense)} not over`,
  },
  order: {
    title: "Another model's work came first",
    when: "The model that was loaded finishes its work before another may have the device, or earlier jobs are its own.",
    levers: [CEILING],
    ofPolicy: { fifo: ["scheduler.strict"] },
    phrase: (by, tense) =>
      `${by} ${tense === "past" ? "had" : "has"} work that ${tense === "past" ? "came" : "comes"} first`,
  },
  not_worth: {
    title: "A swap was not worth its loads",
    when: "stint: what a swap would save its waiting jobs is less than what its loads cost.",
    levers: ["scheduler.price", "scheduler.weight", "scheduler.doublesSeconds", CEILING],
    phrase: (by, tense) => `taking the place of ${by} ${was(tense)} not worth the loads yet`,
  },
  budget: {
    title: "The swap budget was spent",
    when: "stint: cutting into an unfinished queue would be worth it, and its share of the device's time is used up.",
    levers: ["scheduler.swapShare", "scheduler.burst", CEILING],
    phrase: (by, tense) => `the budget for cutting into the queue of ${by} ${was(tense)} spent`,
  },
  likely_needed: {
    title: "Another model was kept for its next job",
    when: "stint: the model that was loaded had no work, and its next job usually comes soon.",
    levers: ["scheduler.hold", "scheduler.holdMax", CEILING],
    phrase: (by, tense) => `${by} ${was(tense)} kept because it usually gets another job soon`,
  },
  quantum: {
    title: "Another model's turn",
    when: "stint: the model was due for a visit, and the turn of the one that was loaded was not over.",
    levers: ["scheduler.swapShare", "scheduler.visitSeconds", CEILING],
    phrase: (by, tense) => `the turn of ${by} ${was(tense)} not over`,
  },
  switching_other: {
    title: "The device was switching",
    when: "The device was bringing in or taking out another model.",
    levers: ["scheduler.minResidencySeconds", ...ROOM],
    phrase: (by, tense) => `the device ${was(tense)} busy bringing in ${by}`,
  },
  own_move: {
    title: "This model was being unloaded",
    when: "The model itself was being unloaded, for another one or as idle, and can come back only when that is over.",
    levers: ["scheduler.minResidencySeconds", CEILING, "models.*.pinned"],
    phrase: (by, tense) => `this model ${was(tense)} being unloaded for ${by}`,
  },
};

export function was(tense: Tense): string {
  return tense === "past" ? "was" : "is";
}
