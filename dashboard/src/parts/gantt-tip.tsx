// What a bar or a mark says when the pointer or the focus is on it.

import type { MoveWire, SpanRow } from "../../../src/client/wire-live.ts";
import { barAt, type LaneDevice, type Scale } from "./gantt-layout.ts";
import { PHASES } from "./phase.ts";
import { clock, duration } from "./time.ts";

export interface Tip {
  readonly x: number;
  readonly y: number;
  readonly title: string;
  readonly body: string;
}

const WIDTH_PX = 268;

export function GanttTip({ tip, width }: { readonly tip: Tip; readonly width: number }) {
  const left = Math.max(0, Math.min(tip.x - WIDTH_PX / 2, width - WIDTH_PX));
  return (
    <div class="tip" aria-hidden="true" style={{ left: `${left}px`, top: `${tip.y}px` }}>
      <b>{tip.title}</b>
      <span>{tip.body}</span>
    </div>
  );
}

/** What the tip is told from. */
export interface Picture {
  readonly devices: readonly LaneDevice[];
  readonly spans: readonly SpanRow[];
  readonly moves: readonly MoveWire[];
  readonly nowMs: number;
  readonly scale: Scale;
}

/** Of the shape that the event is on; null: it is on none. */
export function tipOf(event: Event, picture: Picture): Tip | null {
  const { target, currentTarget } = event;
  if (!(target instanceof Element) || !(currentTarget instanceof Element)) return null;
  const shape = target.closest<SVGElement>("[data-lane], [data-mark], [data-block]");
  if (shape === null) return null;
  const box = shape.getBoundingClientRect();
  const host = currentTarget.getBoundingClientRect();
  const pointer = event instanceof MouseEvent ? event.clientX : box.left + Math.min(box.width / 2, 80);
  const said = textOf(shape.dataset, picture, pointer - host.left);
  if (said === null) return null;
  const bottom = shape.dataset["block"] === undefined ? box.bottom : Math.min(box.bottom, box.top + 60);
  return { x: pointer - host.left, y: bottom - host.top + 6, ...said };
}

type Said = Pick<Tip, "title" | "body">;

function textOf(data: DOMStringMap, picture: Picture, x: number): Said | null {
  const { last, lane, block } = data;
  if (last !== undefined) return markText(last, Number(data["more"]), picture);
  if (lane !== undefined) return barText(lane, data["phase"] ?? "", picture, x);
  if (block === "paused" || block === "down") {
    const title = data["said"] ?? "The router was down";
    return { title, body: stretch(Number(data["from"]), Number(data["to"]), picture.nowMs) };
  }
  return null;
}

function markText(last: string, more: number, { moves }: Picture): Said | null {
  const move = moves.find(({ id }) => id === last);
  if (move === undefined) return null;
  const title = `${clock(move.at_ms)} on ${move.device}${move.forced ? ", by the ceiling" : ""}`;
  return { title, body: more > 0 ? `${move.sentence} And ${more} more just before.` : move.sentence };
}

function barText(lane: string, phase: string, { devices, spans, scale, nowMs }: Picture, x: number): Said | null {
  const [device = "", model = ""] = lane.split("\n");
  const row = barAt(spans, { device, model, phase }, scale, x, nowMs);
  if (row === null) return null;
  const label = devices.flatMap(({ models }) => models).find(({ id }) => id === model)?.label ?? model;
  const [, , is, fromMs, toMs] = row;
  return {
    title: `${label}: ${PHASES[is].toLowerCase()}`,
    body: `${stretch(fromMs, toMs ?? nowMs, nowMs)} on ${device}`,
  };
}

function stretch(fromMs: number, toMs: number, nowMs: number): string {
  const end = toMs >= nowMs ? "now" : clock(toMs);
  return `${clock(fromMs)} to ${end}, ${duration(Math.min(toMs, nowMs) - fromMs)}`;
}
