// One screen of `sir top` as lines: a card for each device, then as far as there is room decisions and jobs. Pure.

import type { JobRow } from "../client/wire-live.ts";
import type { DeviceStatusWire, ModelStatusWire } from "../client/wire-status.ts";
import { timeText } from "./instant.ts";
import { bold, type Paint, paint } from "./paint.ts";
import { gib, span } from "./quantity.ts";
import { shortId } from "./record-id.ts";
import { itemsOf, lanesOf, serverMs, shownDevices, type TopState, waitingOf } from "./top-state.ts";
import { cellsOf, MARKS, type Marks, type Phase } from "./top-strip.ts";
import { cutEnd, cutMiddle, harmless, padded, widthOf, wrapped } from "./width.ts";
import type { Zone } from "./zone.ts";

export interface Canvas {
  readonly columns: number;
  readonly rows: number;
  readonly unicode: boolean;
  readonly color: boolean;
  readonly zone: Zone;
  readonly nowMs: number;
  /** Keys are heard: there is something selected, and a word on them. */
  readonly keys: boolean;
}

/** Exactly as many lines as there are rows, or fewer; none wider than the screen. */
export function topLines(state: TopState, canvas: Canvas): string[] {
  const foot = footLine(state, canvas);
  const room = canvas.rows - 1;
  const lines = [headLine(state, canvas), ""];
  const items = itemsOf(state, canvas.nowMs);
  const selected = canvas.keys ? Math.min(state.selected, Math.max(0, items.length - 1)) : -1;
  let drawn = 0;
  for (const device of shownDevices(state)) {
    const lanes = lanesOf(state, device, canvas.nowMs);
    lines.push(...deviceCard(state, device, lanes, selected - drawn, canvas), "");
    drawn += lanes.length;
  }
  if (shownDevices(state).length === 0) lines.push("No device: every model is served elsewhere.", "");
  const left = room - lines.length;
  const jobRoom = Math.min(state.jobs.length, Math.max(0, Math.ceil(left / 2)));
  lines.push(...decisionLines(state, left - jobRoom - 1, canvas));
  if (jobRoom > 0 && left > 2) lines.push("", ...jobLines(state, jobRoom, selected - drawn, canvas));
  const shown = lines.slice(0, room);
  while (shown.length < room) shown.push("");
  return [...shown, foot];
}

/** Cuts a line that holds no colours yet. */
const cut = (text: string, { columns, unicode }: Canvas): string => cutEnd(text, columns, unicode ? "…" : "~");

function headLine(state: TopState, canvas: Canvas): string {
  const { status } = state;
  const { totals, policy, started_at, draining, paused } = status;
  const nowMs = serverMs(state, canvas.nowMs);
  const flags = [paused ? "PAUSED" : "", draining ? "DRAINING" : "", state.frozen ? "FROZEN" : ""].filter(Boolean);
  const parts = [
    `SIR  ${timeText(nowMs, canvas.zone)} ${canvas.zone.foreign}`.trimEnd(),
    `up ${span(nowMs - started_at * 1_000)}`,
    `waiting ${totals.waiting}`,
    `running ${totals.running}`,
    `done 1h ${totals.done_1h}`,
    ...(totals.failed_1h > 0 ? [`failed 1h ${totals.failed_1h}`] : []),
    ...flags,
    policy,
  ];
  const text = cut(parts.join("  "), canvas);
  const keys = canvas.keys ? "q quit  ? keys" : "";
  const gap = canvas.columns - widthOf(text) - keys.length;
  return bold(text, canvas.color) + (keys !== "" && gap >= 2 ? " ".repeat(gap) + paint(keys, "dim", canvas.color) : "");
}

function footLine(state: TopState, canvas: Canvas): string {
  const marks = MARKS[canvas.unicode ? "unicode" : "ascii"];
  const legend = (["serving", "loading", "draining", "idle", "failed"] as const)
    .map((phase) => `${marks[phase]} ${phase}`)
    .join("  ");
  if (state.message !== null) return bold(cut(harmless(state.message), canvas), canvas.color);
  if (state.lost !== null)
    return paint(cut(`not live: ${harmless(state.lost)}; trying again`, canvas), "error", canvas.color);
  return paint(cut(`last ${span(state.windowMs)}: ${legend}`, canvas), "dim", canvas.color);
}

const NAME_MAX = 22;

function deviceCard(
  state: TopState,
  device: DeviceStatusWire,
  lanes: readonly ModelStatusWire[],
  selected: number,
  canvas: Canvas,
): string[] {
  const { columns, rows, color } = canvas;
  const { summary, next } = device;
  const most = rows >= 30 ? 3 : 2;
  const said = wrapped(harmless(summary.text), columns - 4);
  const sentence =
    said.length > most
      ? [...said.slice(0, most - 1), cut(said.slice(most - 1).join(" "), { ...canvas, columns: columns - 4 })]
      : said;
  const expected = next === null || rows < 24 ? [] : [cut(harmless(next.text), { ...canvas, columns: columns - 4 })];
  const nameWidth = Math.min(NAME_MAX, Math.max(8, ...lanes.map(({ id }) => widthOf(id))), Math.floor(columns / 4));
  return [
    `${bold(harmless(device.id), color)}  ${memoryText(device, canvas)}`,
    ...[...sentence, ...expected].map((line) => `  ${line}`),
    ...lanes.map((model, at) => laneLine(state, device, model, { nameWidth, selected: at === selected }, canvas)),
  ];
}

function memoryText({ memory_gib, claimed_gib, swap_share_1h, swaps_1h }: DeviceStatusWire, canvas: Canvas): string {
  const swaps = swaps_1h > 0 ? `  swaps 1h ${swaps_1h} (${Math.round(swap_share_1h * 100)} % of it)` : "";
  if (memory_gib === null || claimed_gib === null) return `one model at a time${swaps}`;
  const width = canvas.columns >= 100 ? 20 : 10;
  const full = Math.min(width, Math.round((claimed_gib / memory_gib) * width));
  return `mem [${"|".repeat(full)}${" ".repeat(width - full)}] ${gib(claimed_gib).replace(" GiB", "")}/${gib(memory_gib)}${swaps}`;
}

const PAINTS: Readonly<Record<Phase, Paint>> = {
  serving: "ok",
  idle: "dim",
  loading: "warn",
  draining: "warn",
  unloading: "warn",
  failed: "error",
};

interface Lane {
  readonly nameWidth: number;
  readonly selected: boolean;
}

function laneLine(
  state: TopState,
  device: DeviceStatusWire,
  model: ModelStatusWire,
  { nameWidth, selected }: Lane,
  canvas: Canvas,
): string {
  const { columns, unicode, color } = canvas;
  const marks = MARKS[unicode ? "unicode" : "ascii"];
  const toMs = serverMs(state, canvas.nowMs);
  const tailWidth = columns < 100 ? 30 : 38;
  const width = Math.max(0, columns - nameWidth - tailWidth - 6);
  const mine = state.spans.filter(([on, name]) => on === device.id && name === model.id);
  const cells = cellsOf(mine, { fromMs: toMs - state.windowMs, toMs, width });
  const strip = cells.map((phase) => (phase === null ? " " : paint(marks[phase], PAINTS[phase], color))).join("");
  const name = padded(cutMiddle(harmless(model.id), nameWidth, unicode ? "…" : "~"), nameWidth);
  const cursor = selected ? ">" : " ";
  const head = `${cursor} ${selected ? bold(name, color) : name}`;
  return `${head} ${marks.edge}${strip}${marks.edge} ${tailText(model, marks, tailWidth, canvas)}`.trimEnd();
}

/** `resident 8/8  86 ▲0 ●0 ▼86  oldest 38m` */
function tailText(model: ModelStatusWire, marks: Marks, width: number, canvas: Canvas): string {
  const { queued, state, running, concurrency, oldest_wait_seconds, pinned } = model;
  const waiting = waitingOf(model);
  const busy = state === "absent" ? "" : ` ${running}/${concurrency}`;
  const bands = `${marks.interactive}${queued.interactive} ${marks.normal}${queued.normal} ${marks.batch}${queued.batch}`;
  const queue = waiting === 0 ? "" : `  ${waiting} ${bands} ${span(oldest_wait_seconds * 1_000)}`;
  const text = `${pinned ? "pinned " : ""}${state === "absent" ? "-" : state}${busy}${queue}`;
  return cutEnd(text, width, canvas.unicode ? "…" : "~");
}

function decisionLines(state: TopState, room: number, canvas: Canvas): string[] {
  const lines: string[] = [];
  for (const { at, device, kind, sentence } of state.decisions) {
    if (lines.length >= room) break;
    const text = `${timeText(at * 1_000, canvas.zone)} ${device} ${kind}  ${sentence}`;
    lines.push(cut(harmless(text), canvas));
  }
  return lines;
}

function jobLines(state: TopState, room: number, selected: number, canvas: Canvas): string[] {
  const first = Math.max(0, Math.min(selected - room + 1, state.jobs.length - room));
  return state.jobs.slice(first, first + room).map((job, at) => {
    const chosen = first + at === selected;
    const line = cut(`${chosen ? ">" : " "} ${jobText(job, canvas)}`, canvas);
    return chosen ? bold(line, canvas.color) : line;
  });
}

function jobText(job: JobRow, { unicode, columns }: Canvas): string {
  const marks = MARKS[unicode ? "unicode" : "ascii"];
  const mark = unicode ? "…" : "~";
  const shares = job.parts
    .filter(({ cause }) => cause !== "running")
    .toSorted((a, b) => b.ms - a.ms)
    .slice(0, 3)
    .map(({ cause, ms }) => `${cause.replaceAll("_", " ")} ${Math.round((ms / Math.max(1, job.wait_ms)) * 100)} %`);
  const name = padded(cutMiddle(job.model, columns >= 110 ? 24 : 14, mark), columns >= 110 ? 24 : 14);
  const why = job.wait_ms < 1_000 ? "" : shares.length > 0 ? shares.join(", ") : (job.cause ?? "").replaceAll("_", " ");
  const caller = job.caller === null || job.caller === "local" ? "" : job.caller;
  const ran = job.status === "in_progress" ? `running ${span(job.run_ms)}` : job.status;
  const text = [
    padded(shortId(job.id, 13, mark), 13),
    name,
    marks[job.band],
    padded(ran, 13),
    padded(`waited ${span(job.wait_ms)}`, 14),
    why,
    caller,
  ].join(" ");
  return harmless(text.trimEnd());
}
