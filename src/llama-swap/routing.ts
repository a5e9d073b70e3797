// Groups, matrix and scheduler of llama-swap: which models may be loaded together, and in which order work is taken.

import type { Draft } from "./draft.ts";
import { combinations, MatrixError } from "./matrix.ts";
import { bounded, numberOf, textOf, textsOf } from "./reading.ts";
import type { Field, Section } from "./source.ts";
import { togetherness } from "./together.ts";

type Pairs = (a: string, b: string) => boolean;

export function routing(draft: Draft): void {
  const { root, ledger } = draft;
  const router = root.below("routing").below("router");
  const settings = router.below("settings");
  const use = router.get("use");
  ledger.carry(use);
  const groups = settings.get("groups") ?? root.get("groups");
  const matrix = settings.get("matrix") ?? root.get("matrix");
  const wanted = textOf(use) ?? (groups === undefined && matrix !== undefined ? "matrix" : "group");
  const [used, idle] = wanted === "matrix" ? [matrix, groups] : [groups, matrix];
  if (idle !== undefined) ledger.leave(idle, `routing.router.use is ${wanted}: llama-swap does not read it either.`);
  if (used?.section) {
    const models = [...draft.models.values()].filter(({ usesDevice }) => usesDevice).map(({ name }) => name);
    const may = wanted === "matrix" ? matrixPairs(used.section, draft) : groupPairs(used.section, models, draft);
    share(models, may, draft);
  }
  scheduling(root.below("routing").below("scheduler"), draft);
}

function share(models: readonly string[], may: Pairs, draft: Draft): void {
  const { sharing, places, apart } = togetherness(models, may);
  if (places < 2) return;
  draft.places = places;
  for (const name of sharing) {
    const model = draft.models.get(name);
    if (model !== undefined) model.memoryGiB = 1;
  }
  if (apart.length > 0) draft.scheduler["neverTogether"] = apart;
}

interface Group {
  readonly members: readonly string[];
  readonly swap: boolean;
  readonly exclusive: boolean;
  readonly persistent: boolean;
}

/** What is in no group is in one of its own kind: one at a time, and nobody beside it. */
const ALONE: Group = { members: [], swap: true, exclusive: true, persistent: false };

function groupPairs(section: Section, models: readonly string[], draft: Draft): Pairs {
  const groups = [...section.fields.values()].map((field) => groupOf(field, models, draft));
  const of = (model: string): Group => groups.find(({ members }) => members.includes(model)) ?? ALONE;
  for (const { members, persistent } of groups) {
    for (const name of persistent ? members : []) {
      const model = draft.models.get(name);
      if (model !== undefined) model.pinned = true;
    }
  }
  return (a, b) => {
    const [one, other] = [of(a), of(b)];
    if (one === other) return !one.swap;
    return !one.exclusive || other.persistent || !other.exclusive || one.persistent;
  };
}

function groupOf(field: Field, models: readonly string[], { ledger }: Draft): Group {
  const own = field.section;
  if (own === null) {
    ledger.leave(field, "has no members.");
    return ALONE;
  }
  const members = own.get("members");
  const names = textsOf(members);
  const unknown = names.filter((name) => !models.includes(name));
  if (members !== undefined && unknown.length > 0) {
    ledger.change(members, `${unknown.join(", ")}: no such model here; the others stay.`);
  } else ledger.carry(members);
  const flag = (key: string, otherwise: boolean): boolean => {
    const value = own.get(key)?.value;
    return typeof value === "boolean" ? value : otherwise;
  };
  const group = { swap: flag("swap", true), exclusive: flag("exclusive", true), persistent: flag("persistent", false) };
  const swap = own.get("swap");
  if (swap !== undefined && !group.swap)
    ledger.change(swap, "its members may be loaded together, said as memory in places.");
  ledger.carry(swap);
  const exclusive = own.get("exclusive");
  if (exclusive !== undefined && !group.exclusive) {
    ledger.change(
      exclusive,
      "its members may be loaded beside those of other groups, whoever comes first; said as memory in places.",
    );
  }
  ledger.carry(exclusive);
  const persistent = own.get("persistent");
  if (persistent !== undefined && group.persistent) {
    ledger.change(persistent, "became pinned: true on its members: loaded at the start, never evicted.");
  }
  ledger.carry(persistent);
  return { ...group, members: names };
}

function matrixPairs(section: Section, draft: Draft): Pairs {
  const { ledger } = draft;
  const vars = section.below("vars");
  const name = (word: string): string => textOf(vars.get(word)) ?? word;
  ledger.carry(section.get("vars"));
  const sets = section.below("sets");
  const expressions = new Map([...sets.fields].map(([key, field]) => [key, textOf(field) ?? ""]));
  const together = new Set<string>();
  for (const [key, field] of sets.fields) {
    const found = allowed(expressions.get(key) ?? "", name, expressions, key);
    if (typeof found === "string") {
      ledger.leave(field, `${found}.`);
      continue;
    }
    if (found.every((set) => set.length === 1 && draft.models.has(set[0] ?? ""))) {
      ledger.carry(field);
      continue;
    }
    const unknown = [...new Set(found.flat())].filter((model) => !draft.models.has(model));
    for (const set of found) for (const a of set) for (const b of set) together.add(`${a}\0${b}`);
    const missing = unknown.length === 0 ? "" : ` No such model here: ${unknown.join(", ")}.`;
    const count = `${found.length} combination${found.length === 1 ? "" : "s"}`;
    ledger.change(field, `${count}, said as memory in places.${missing}`);
  }
  const costs = section.get("evict_costs");
  if (costs !== undefined) ledger.leave(costs, "SIR measures how long each model takes to load and weighs that.");
  return (a, b) => together.has(`${a}\0${b}`);
}

/** A text says what is wrong with it. */
function allowed(
  expression: string,
  name: (word: string) => string,
  sets: ReadonlyMap<string, string>,
  key: string,
): string[][] | string {
  try {
    return combinations(expression, name, sets, [key]);
  } catch (error) {
    if (error instanceof MatrixError) return error.message;
    throw error;
  }
}

const RULES: readonly (readonly [key: string, setting: string, most: number])[] = [
  ["agingDivisor", "agingDivisorSeconds", 31_536_000],
  ["swapAffinityBonus", "swapAffinityBonus", 97],
];

function scheduling(section: Section, draft: Draft): void {
  const { ledger } = draft;
  const use = section.get("use");
  const rule = textOf(use);
  if (use !== undefined && rule === "serial") {
    draft.scheduler["policy"] = "serial";
    ledger.carry(use);
  } else if (use !== undefined) {
    ledger.change(
      use,
      'SIR\'s own rule holds, model-score: it bounds every wait. policy: "fifo" is the nearest to this.',
    );
  }
  const serial = section.below("settings").below("serial");
  for (const [key, setting, most] of RULES) {
    const field = serial.get(key);
    const value = numberOf(field, ledger);
    if (field === undefined || value === null) continue;
    draft.scheduler[setting] = bounded(value, 0, most);
    ledger.carry(field);
  }
  for (const [id, field] of section.below("settings").below("fifo").below("priority").fields) {
    const model = draft.find(id);
    model?.notes.push(`Its priority in llama-swap was ${textOf(field)}.`);
    const meaning = "a rank there, a factor of the model's score here (priority: 1 is even); kept as a comment.";
    if (model === undefined) ledger.leave(field, "no such model here.");
    else ledger.change(field, meaning);
  }
}
