// A decision as rows and as its arithmetic: every addend of every model, as the policy named them.

import { type DecisionWire, type ScoredWire, termsOf } from "../client/wire.ts";
import { quantity, score } from "../scheduler/wording.ts";
import type { Io } from "./command.ts";
import { instantText, timeText } from "./instant.ts";
import { bold } from "./paint.ts";
import { span } from "./quantity.ts";
import { type Column, NONE, tableText } from "./table.ts";
import { harmless, wrapped } from "./width.ts";

export const DECISION_COLUMNS: readonly Column[] = [
  { title: "AT" },
  { title: "DECISION", ids: true, least: 13 },
  { title: "DEVICE", least: 6 },
  { title: "KIND" },
  { title: "REASON" },
  { title: "SENTENCE", wraps: true },
];

/** With the date off a terminal, where nobody knows which day it is read. */
export function decisionRow(decision: DecisionWire, io: Io): string[] {
  const { id, at, device, kind, reason, sentence } = decision;
  const when = io.screen.out ? timeText(at * 1_000, io.zone) : instantText(at * 1_000, io.zone);
  return [when, id, device, kind, reason, sentence];
}

export function decisionLines(decision: DecisionWire, io: Io): string[] {
  const { id, at, device, kind, reason, sentence, policy, guard } = decision;
  const room = io.screen.out ? io.screen.size().columns : Number.POSITIVE_INFINITY;
  const rule = guard === null ? "" : `, rule ${guard}`;
  const { asked_by } = decision;
  const lines = [
    `${instantText(at * 1_000, io.zone)}  ${harmless(device)}  ${kind} ${reason}`,
    id,
    ...wrapped(harmless(sentence), room).map((line) => bold(line, io.color)),
    `policy ${policy}${rule}`,
    ...(asked_by === null || asked_by === "local" ? [] : [`asked for by ${harmless(asked_by)}`]),
  ];
  if (decision.models.length > 0) lines.push("", candidates(decision, io));
  lines.push(...numberLines(decision), ...looksOf(decision, io), ...residentLines(decision));
  if (decision.jobs.length > 0)
    lines.push(`it was made for ${quantity(decision.jobs.length, "job")}: ${named(decision)}`);
  return lines;
}

function candidates({ models, resident }: DecisionWire, io: Io): string {
  const terms = [...new Set(models.flatMap(termsOf))];
  const loaded = new Set(resident.map(({ model }) => model));
  const columns: Column[] = [
    { title: "MODEL", least: 12 },
    { title: "LOADED" },
    { title: "WAIT", right: true },
    { title: "OLDEST", right: true },
    { title: "PRIO", right: true },
    ...terms.map((term): Column => ({ title: term.replaceAll("_", " ").toUpperCase(), right: true, sparse: true })),
    { title: "SWITCH", right: true },
    { title: "SCORE", right: true },
    { title: "WHY NOT", least: 12, sparse: true },
  ];
  const rows = models.map((model) => [
    model.model,
    loaded.has(model.model) ? "yes" : "no",
    String(model.depth),
    span(model.oldest_wait_seconds * 1_000),
    numberText(model.priority),
    ...terms.map((term) => termText(model, term)),
    numberText(-model.switch_cost),
    model.score === null ? NONE : numberText(model.score),
    model.why_not ?? NONE,
  ]);
  return tableText(io, columns, rows);
}

function termText(model: ScoredWire, term: string): string {
  const value = model[term];
  if (value === null || value === undefined) return NONE;
  return typeof value === "number" ? numberText(value) : String(value);
}

const numberText = (value: number): string => (value === 0 ? "0" : score(value));

function numberLines({ numbers, budget, next_look_at, at }: DecisionWire): string[] {
  const compared = Object.entries(numbers).map(([name, value]) => `${name.replaceAll("_", " ")} ${numberText(value)}`);
  const lines = compared.length === 0 ? [] : [`compared: ${compared.join(", ")}`];
  if (budget !== null) {
    lines.push(
      `swap budget: ${span(budget.before_seconds * 1_000)} before, ${span(budget.after_seconds * 1_000)} after`,
    );
  }
  if (next_look_at !== null && next_look_at >= at) {
    lines.push(`looks again after ${span((next_look_at - at) * 1_000)} at the latest`);
  }
  return lines;
}

/** Consecutive looks that came to the same are one decision. */
function looksOf({ times, last_at }: DecisionWire, io: Io): string[] {
  if (times < 2) return [];
  return [`it came to the same ${quantity(times, "time")}, last at ${timeText(last_at * 1_000, io.zone)}`];
}

function residentLines({ resident }: DecisionWire): string[] {
  return resident.map(({ model, for_seconds, idle_seconds }) => {
    const idle = idle_seconds > 0 ? `, idle for ${span(idle_seconds * 1_000)}` : "";
    return `loaded then: ${harmless(model)}, for ${span(for_seconds * 1_000)}${idle}`;
  });
}

function named({ jobs }: DecisionWire): string {
  const shown = jobs.slice(0, 3).join(", ");
  return jobs.length > 3 ? `${shown} and ${jobs.length - 3} more` : shown;
}
