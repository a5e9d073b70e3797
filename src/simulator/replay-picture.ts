// What a chart needs of a replay: what each device did as spans no narrower than a pixel, and how the waits lie. Small,
// whatever the length of the traffic.

import { waitOf } from "./compare.ts";
import type { Outcome, Spell } from "./outcome.ts";

type Phase = "loading" | "serving" | "idle" | "unloading";

/** As the timeline's rows. */
export type SpanTuple = readonly [
  device: string,
  model: string,
  phase: Phase,
  fromMs: number,
  toMs: number,
  decision: null,
];

/** Spans in all; beyond, cells are made wider until they fit. */
export const MOST_SPANS = 2_000;
const CELLS = 1_200;
const POINTS = 60;
const LEAST_SECONDS = 0.1;

/** Cut to the range; in order of their starts. */
export function spansOf(outcome: Outcome): SpanTuple[] {
  const { range } = outcome;
  for (let cells = CELLS; ; cells /= 2) {
    const cellMs = (range.toMs - range.fromMs) / cells;
    const spans = drawn(outcome, cellMs);
    if (spans.length <= MOST_SPANS || cells < 2) return spans.slice(0, MOST_SPANS);
  }
}

function drawn(outcome: Outcome, cellMs: number): SpanTuple[] {
  const busy = busyByModel(outcome, cellMs);
  const spans = lanes(outcome, cellMs).flatMap((spell) =>
    spell.kind === "resident" ? residentSpans(spell, busy.get(spell.model) ?? []) : [tuple(spell, spell.kind)],
  );
  return spans.sort((a, b) => a[3] - b[3]);
}

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

/**
 * Spells of one kind in one lane, joined where less than a cell lies between. A model that is to go serves on until its
 * unload begins.
 */
function lanes({ spells, range }: Outcome, cellMs: number): Spell[] {
  const open = new Map<string, Mutable<Spell>>();
  const done: Spell[] = [];
  for (const spell of [...spells].sort((a, b) => a.fromMs - b.fromMs)) {
    const fromMs = Math.max(spell.fromMs, range.fromMs);
    const toMs = Math.min(spell.toMs, range.toMs);
    if (toMs <= fromMs) continue;
    const lane = `${spell.device} ${spell.model}`;
    const stay = open.get(`${lane} resident`);
    if (spell.kind === "unloading" && stay !== undefined) stay.toMs = Math.max(stay.toMs, fromMs);
    const key = `${lane} ${spell.kind}`;
    const last = open.get(key);
    if (last !== undefined && fromMs - last.toMs < cellMs) last.toMs = Math.max(last.toMs, toMs);
    else {
      if (last !== undefined) done.push(last);
      open.set(key, { ...spell, fromMs, toMs });
    }
  }
  return [...done, ...open.values()];
}

interface Stretch {
  readonly fromMs: number;
  toMs: number;
}

/** When a model had a job running, in order; gaps below a cell are none. */
function busyByModel({ jobs, range }: Outcome, cellMs: number): ReadonlyMap<string, readonly Stretch[]> {
  const byModel = new Map<string, Stretch[]>();
  const ran = jobs.flatMap(({ model, startedAtMs, finishedAtMs }) =>
    startedAtMs === null ? [] : [{ model, fromMs: startedAtMs, toMs: finishedAtMs ?? range.toMs }],
  );
  for (const { model, fromMs, toMs } of ran.sort((a, b) => a.fromMs - b.fromMs)) {
    const own = byModel.get(model) ?? [];
    const last = own.at(-1);
    if (last !== undefined && fromMs - last.toMs < cellMs) last.toMs = Math.max(last.toMs, toMs);
    else own.push({ fromMs, toMs });
    byModel.set(model, own);
  }
  return byModel;
}

function residentSpans(spell: Spell, busy: readonly Stretch[]): SpanTuple[] {
  const spans: SpanTuple[] = [];
  let atMs = spell.fromMs;
  for (const { fromMs, toMs } of busy) {
    const begin = Math.max(fromMs, atMs);
    const end = Math.min(toMs, spell.toMs);
    if (end <= begin) continue;
    if (begin > atMs) spans.push(tuple({ ...spell, fromMs: atMs, toMs: begin }, "idle"));
    spans.push(tuple({ ...spell, fromMs: begin, toMs: end }, "serving"));
    atMs = end;
  }
  if (atMs < spell.toMs) spans.push(tuple({ ...spell, fromMs: atMs }, "idle"));
  return spans;
}

const tuple = ({ device, model, fromMs, toMs }: Omit<Spell, "kind">, phase: Phase): SpanTuple => [
  device,
  model,
  phase,
  Math.round(fromMs),
  Math.round(toMs),
  null,
];

export interface WaitDistribution {
  readonly seconds: readonly number[];
  readonly before: readonly number[];
  readonly after: readonly number[] | null;
}

/** Shares of all counted jobs that had started after so long, at instants that lie evenly on a logarithmic axis. */
export function distributionOf(ran: Outcome, other: Outcome | null): WaitDistribution {
  const [was, is] = [sortedWaits(ran), other === null ? null : sortedWaits(other)];
  const longest = Math.max(LEAST_SECONDS * 10, was.at(-1) ?? 0, is?.at(-1) ?? 0);
  const factor = (longest / LEAST_SECONDS) ** (1 / (POINTS - 1));
  const seconds = Array.from({ length: POINTS }, (_, i) =>
    i === POINTS - 1 ? longest : Number((LEAST_SECONDS * factor ** i).toPrecision(4)),
  );
  return {
    seconds,
    before: sharesAt(seconds, was, ran.jobs.length),
    after: other === null || is === null ? null : sharesAt(seconds, is, other.jobs.length),
  };
}

function sortedWaits({ jobs }: Outcome): number[] {
  return jobs.flatMap((job) => waitOf(job) ?? []).sort((a, b) => a - b);
}

function sharesAt(seconds: readonly number[], sorted: readonly number[], jobs: number): number[] {
  let started = 0;
  return seconds.map((limit) => {
    while ((sorted[started] ?? Number.POSITIVE_INFINITY) <= limit) started++;
    return jobs === 0 ? 0 : started / jobs;
  });
}
