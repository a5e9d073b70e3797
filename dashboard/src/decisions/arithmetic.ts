// A decision's arithmetic as bars and as text, for any policy: what speaks for a model lies right of zero, what speaks
// against it left, and the sum is the score. Where a rule's score is no sum, what it compared is shown instead. Pure.

import { type DecisionWire, type ScoredWire, termsOf } from "../../../src/client/wire.ts";
import { duration, jobs, score } from "../../../src/scheduler/wording.ts";

export type AddendKind = "age" | "depth" | "cost" | "priority" | "affinity" | "other";

export interface Addend {
  readonly kind: AddendKind;
  readonly name: string;
  /** Signed: a cost is negative. */
  readonly value: number;
}

export interface ScoreLine {
  readonly model: string;
  /** Null: the rule gave it none. */
  readonly score: number | null;
  /** Empty: nothing to add. */
  readonly addends: readonly Addend[];
  /** The sum written out, or why there is none. */
  readonly text: string;
}

const NAMED: Readonly<Record<string, readonly [kind: AddendKind, name: string]>> = {
  age_term: ["age", "age of the oldest job"],
  depth_term: ["depth", "jobs waiting"],
  priority_term: ["priority", "the first job's priority"],
  affinity_term: ["affinity", "being loaded"],
  aging_term: ["age", "waiting"],
};

export const ADDEND_WORDS: Readonly<Record<AddendKind, string>> = {
  age: "age of the oldest job",
  depth: "jobs waiting",
  priority: "priority",
  affinity: "being loaded",
  cost: "cost of the switch",
  other: "other",
};

/** Of a sum that a double cannot hold exactly. */
const ROUNDING = 1e-6;

export function scoreLine(scored: ScoredWire): ScoreLine {
  const { model, switch_cost: cost } = scored;
  const terms = termsOf(scored).flatMap((key): Addend[] => {
    const value = term(scored, key);
    if (value === null) return [];
    const [kind, name] = NAMED[key] ?? ["other", words(key)];
    return [{ kind, name, value }];
  });
  const sum = terms.reduce((whole, { value }) => whole + value, 0) - cost;
  const adds = scored.score !== null && Math.abs(sum - scored.score) <= ROUNDING * Math.max(1, Math.abs(sum));
  const switching: Addend[] = cost === 0 ? [] : [{ kind: "cost", name: "cost of the switch", value: -cost }];
  const addends = adds ? [...terms, ...switching].filter(({ value }) => value !== 0) : [];
  return { model, score: scored.score, addends, text: textOf(scored, terms, adds) };
}

function textOf(scored: ScoredWire, terms: readonly Addend[], adds: boolean): string {
  const { depth, score: value, priority, switch_cost: cost, oldest_wait_seconds: oldest } = scored;
  if (depth === 0 && (value === null || value === 0)) return "nothing waits, so nothing speaks for it";
  if (value === null) return `${jobs(depth)}, oldest ${duration(oldest * 1000)}; this rule gives no scores`;
  if (!adds) return factsOf(scored);
  const [age, waiting] = [term(scored, "age_term"), term(scored, "depth_term")];
  const charge = cost === 0 ? "" : ` − ${score(cost)} for the load`;
  if (age !== null && waiting !== null && priority !== 0) {
    const own = `${score(age / priority)} for a wait of ${duration(oldest * 1000)} + ${score(waiting / priority)} for ${jobs(depth)}`;
    return `${score(priority)} × (${own})${charge} = ${score(value)}`;
  }
  const sum = terms.filter(({ value: each }) => each !== 0).map(({ name, value: each }) => `${score(each)} ${name}`);
  return `${sum.join(" + ")}${charge} = ${score(value)}`;
}

/** What a rule that does not add knows of a model. */
function factsOf(scored: ScoredWire): string {
  const facts = termsOf(scored).flatMap((key) => {
    const value = term(scored, key);
    return value === null ? [] : [`${words(key)} ${amount(key, value)}`];
  });
  return facts.join(", ");
}

const amount = (key: string, value: number): string =>
  key.endsWith("_seconds") ? duration(value * 1000) : score(value);

function term(scored: ScoredWire, key: string): number | null {
  const value = scored[key];
  return typeof value === "number" ? value : null;
}

const NUMBER_WORDS: Readonly<Record<string, string>> = {
  load_seconds: "loading it",
  back_seconds: "loading back",
  again_seconds: "looks again in",
  due_in_seconds: "due in",
  budget_limit_seconds: "budget at most",
};

const words = (key: string): string => NUMBER_WORDS[key] ?? key.replace(/_(term|seconds)$/, "").replaceAll("_", " ");

/** How far bars reach on both sides of zero, over all lines; each at least a hair. */
export function reachOf(lines: readonly ScoreLine[]): { readonly left: number; readonly right: number } {
  const side = (sign: 1 | -1): number =>
    Math.max(
      0,
      ...lines.map(({ addends, score: value }) => {
        const all = addends.length > 0 ? addends.map(({ value: each }) => each) : [value ?? 0];
        return all.reduce((sum, each) => sum + Math.max(0, sign * each), 0);
      }),
    );
  return { left: side(-1), right: side(1) };
}

export interface Comparison {
  readonly left: { readonly name: string; readonly value: number };
  readonly right: { readonly name: string; readonly value: number };
  readonly unit: "s" | "score";
  /** What it means for the model that the numbers are about. */
  readonly meaning: string;
}

const PAIRS: readonly (readonly [a: string, b: string, unit: Comparison["unit"], meaning: string])[] = [
  [
    "saves",
    "costs",
    "score",
    "It may cut in once what it saves, in weighted waiting seconds, is more than what it costs the others.",
  ],
  [
    "debt",
    "price",
    "score",
    "An idle model goes once what the others lose by waiting reaches the price of keeping it.",
  ],
  [
    "waited_seconds",
    "ceiling_seconds",
    "s",
    "A model whose oldest job has waited as long as the ceiling is loaded next, whatever the scores say.",
  ],
  ["waited_seconds", "limit_seconds", "s", "No model that waits goes unvisited for longer than the limit."],
  [
    "budget_seconds",
    "need_seconds",
    "s",
    "Cutting into unfinished queues takes seconds of loading from a budget that fills with time.",
  ],
];

export function comparisonsOf({ numbers }: Pick<DecisionWire, "numbers">): Comparison[] {
  return PAIRS.flatMap(([a, b, unit, meaning]) => {
    const [left, right] = [numbers[a], numbers[b]];
    if (left === undefined || right === undefined) return [];
    return [{ left: { name: words(a), value: left }, right: { name: words(b), value: right }, unit, meaning }];
  });
}

/** Numbers that stand in no comparison, in words. */
export function otherNumbers({ numbers }: Pick<DecisionWire, "numbers">): (readonly [name: string, value: string])[] {
  const paired = new Set(
    PAIRS.filter(([a, b]) => numbers[a] !== undefined && numbers[b] !== undefined).flatMap(([a, b]): string[] => [
      a,
      b,
    ]),
  );
  return Object.entries(numbers).flatMap(([key, value]): [string, string][] =>
    paired.has(key) ? [] : [[words(key), amount(key, value)]],
  );
}

const GUARDS: Readonly<Record<string, string>> = {
  ceiling: "The ceiling spoke: a job had waited as long as it allows, so the scores were not asked.",
  min_residency: "What is loaded was inside its minimum residency, whatever the scores say.",
  idle_lapse: "What was loaded had been idle so long that the switch was no longer charged.",
  serve_first: "What had just been loaded serves at least once before it may be swapped out.",
  forced_swap_spent:
    "What the ceiling brought in may stay for its turn: the ceiling does not take it out again at once.",
  pinned: "A pinned model is not taken out.",
  back_off: "The model's last load failed, and it is left alone for a while.",
  paused: "An operator had paused it.",
  in_transition: "Something was already loading or unloading here.",
};

/** Null: no guard spoke, the rule's own numbers decided. */
export const guardWords = (guard: string | null): string | null =>
  guard === null ? null : (GUARDS[guard] ?? guard.replaceAll("_", " "));
