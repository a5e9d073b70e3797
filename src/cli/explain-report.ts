// An explanation on a terminal: the sentence, a strip of time for each part, what would change it, what decided.

import type { ExplainingDecisionWire, ExplanationWire, PartWire } from "../client/wire-explain.ts";
import { percent, score } from "../scheduler/wording.ts";
import type { Io } from "./command.ts";
import { instantText, timeText } from "./instant.ts";
import { bold, type Paint, paint } from "./paint.ts";
import { span } from "./quantity.ts";
import { shownId } from "./record-id.ts";
import { type Column, NONE, tableText } from "./table.ts";
import { harmless, wrapped } from "./width.ts";

const DECISIONS_SHOWN = 6;
const LEVERS_SHOWN = 5;
const TELLING_SHARE = 0.1;
/** The rest of a row: title, time, share. */
const BESIDE_STRIP = 60;
const STRIP = { least: 12, most: 32 };

export function explanationLines(explanation: ExplanationWire, io: Io): string[] {
  const { summary, partial, merged } = explanation;
  const room = io.screen.out ? io.screen.size().columns : Number.POSITIVE_INFINITY;
  const lines = [...wrapped(harmless(summary), room).map((line) => bold(line, io.color)), ""];
  lines.push(partsText(explanation, io), "");
  const { expected } = explanation;
  if (expected !== null) lines.push(...wrapped(harmless(expected.text), room), "");
  lines.push(...changes(explanation, room));
  if (partial) lines.push("The records of its wait are gone; these are the sums that were kept with the job.");
  if (merged > 0) lines.push(`${merged} short stretches were joined to their neighbours.`);
  return [...lines, ...decisionsText(explanation, io)];
}

const ROWS: readonly Column[] = [
  { title: "CAUSE" },
  { title: "TIME", right: true },
  { title: "SHARE", right: true },
  { title: "WHAT HAPPENED", wraps: true },
];

const WHOLE_ROWS: readonly Column[] = [
  "CAUSE",
  "RULE",
  "BY",
  "MS",
  "SHARE",
  "STRETCHES",
  "DECISION",
  "WHAT HAPPENED",
].map((title) => ({ title }));

function partsText(explanation: ExplanationWire, io: Io): string {
  const { parts, total_ms } = explanation;
  if (!io.screen.out) {
    const rows = parts.map(({ cause, rule, by, ms, share, stretches, decision, text }) => [
      ...[cause, rule ?? NONE, by ?? NONE, String(ms), share.toFixed(4), String(stretches), decision ?? NONE, text],
    ]);
    return tableText(io, WHOLE_ROWS, rows);
  }
  const width = Math.max(STRIP.least, Math.min(STRIP.most, io.screen.size().columns - BESIDE_STRIP));
  const rows = parts.map((part) => {
    const by = part.decision === null ? "" : ` (${shownId(part.decision, io)})`;
    return [part.title, span(part.ms), percent(part.share).replaceAll("\u00a0", " "), `${part.text}${by}`];
  });
  const all = [...rows, ["All of it", span(total_ms), " ", " "]];
  const text = tableText(io, ROWS, all, io.screen.size().columns - width - 2);
  return beside(text, ["", ...parts.map((part) => strip(part, explanation, width, io)), ""], width);
}

/** Puts the strips in front of the rows' first lines; what is wrapped below stays behind an empty one. */
function beside(text: string, strips: readonly string[], width: number): string {
  let at = 0;
  return text
    .split("\n")
    .map((line) => {
      const shown = strips[at] ?? "";
      if (line.startsWith("  ")) return " ".repeat(width + 2) + line;
      at++;
      return `${shown === "" ? " ".repeat(width) : shown}  ${line}`;
    })
    .join("\n");
}

const PAINTS: Readonly<Record<string, Paint>> = {
  running: "ok",
  loading: "warn",
  unloading: "warn",
  draining: "warn",
  held: "held",
  own_queue: "wait",
  router_down: "error",
  lost_attempt: "error",
  model_broken: "error",
};

/** The job's life from left to right, filled where this part was. */
function strip(part: PartWire, { stretches, from_ms, to_ms }: ExplanationWire, width: number, io: Io): string {
  const life = Math.max(1, to_ms - from_ms);
  const mine = stretches.filter(({ cause, rule, by }) => cause === part.cause && rule === part.rule && by === part.by);
  const spans = mine.length > 0 ? mine : [part];
  const filled = new Array<boolean>(width).fill(false);
  for (const each of spans) {
    const first = Math.min(width - 1, Math.floor(((each.from_ms - from_ms) / life) * width));
    const end = Math.max(first + 1, Math.round(((each.to_ms - from_ms) / life) * width));
    filled.fill(true, first, Math.min(width, end));
  }
  const [full, empty] = io.screen.unicode ? ["█", "·"] : ["#", "."];
  const kind = PAINTS[part.cause] ?? "dim";
  return filled
    .map((on) => (on ? full : empty))
    .join("")
    .replace(/█+|#+/g, (run) => paint(run, kind, io.color))
    .replace(/·+|\.+/g, (run) => paint(run, "dim", io.color));
}

/** Of what took a tenth or more, the longest first. */
function changes({ parts, try: tryLine }: ExplanationWire, room: number): string[] {
  const long = parts.filter(({ share }) => share >= TELLING_SHARE).sort((a, b) => b.ms - a.ms);
  const levers = [...new Set(long.flatMap((part) => part.levers))].slice(0, LEVERS_SHOWN);
  const lines = levers.length === 0 ? [] : wrapped(`What would change it: ${levers.join(", ")}`, room);
  const all = tryLine === null ? lines : [...lines, `Try: ${tryLine}`];
  return all.length === 0 ? [] : [...all, ""];
}

const DECISIONS: readonly Column[] = [
  { title: "AT" },
  { title: "DECISION", ids: true, least: 13 },
  { title: "LOOKS", right: true },
  { title: "OWN", right: true, sparse: true },
  { title: "WINNER", right: true, sparse: true },
  { title: "SENTENCE", wraps: true },
];

function decisionsText({ decisions }: ExplanationWire, io: Io): string[] {
  if (decisions.length === 0) return [];
  const shown = io.screen.out ? telling(decisions) : decisions;
  const at = (ms: number): string => (io.screen.out ? timeText(ms, io.zone) : instantText(ms, io.zone));
  const rows = shown.map(({ id, at_ms, times, own, winner, sentence }) => {
    const [mine, theirs] = [own?.score ?? null, winner?.score ?? null];
    const text = (value: number | null): string => (value === null ? NONE : score(value));
    return [at(at_ms), id, String(times), text(mine), text(theirs), sentence];
  });
  const left = decisions.length - shown.length;
  const more = left > 0 ? [`and ${left} more; \`--json\` has them all`] : [];
  return [tableText(io, DECISIONS, rows), ...more];
}

/** The first and the newest, and what lies between as far as there is room. */
function telling(decisions: readonly ExplainingDecisionWire[]): readonly ExplainingDecisionWire[] {
  if (decisions.length <= DECISIONS_SHOWN) return decisions;
  return [...decisions.slice(0, DECISIONS_SHOWN / 2), ...decisions.slice(-DECISIONS_SHOWN / 2)];
}
