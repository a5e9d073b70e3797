// What a bar or a mark says when the pointer or the focus is on it.

import type { MoveWire, SpanPhase, SpanRow } from "../../../src/client/wire-live.ts";
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

/** Of the shape that the event is on; null: it is on none. */
export function tipOf(
  event: Event,
  spans: readonly SpanRow[],
  moves: readonly MoveWire[],
  nowMs: number,
  labelOf: (model: string) => string,
): Tip | null {
  const { target, currentTarget } = event;
  if (!(target instanceof Element) || !(currentTarget instanceof Element)) return null;
  const shape = target.closest<SVGElement>("[data-span], [data-mark], [data-block]");
  if (shape === null) return null;
  const said = textOf(shape.dataset, spans, moves, nowMs, labelOf);
  if (said === null) return null;
  const box = shape.getBoundingClientRect();
  const host = currentTarget.getBoundingClientRect();
  const pointer = event instanceof MouseEvent ? event.clientX : box.left + Math.min(box.width / 2, 80);
  const bottom = shape.dataset["block"] === undefined ? box.bottom : Math.min(box.bottom, box.top + 60);
  return { x: pointer - host.left, y: bottom - host.top + 6, ...said };
}

type Said = Pick<Tip, "title" | "body">;

function textOf(
  data: DOMStringMap,
  spans: readonly SpanRow[],
  moves: readonly MoveWire[],
  nowMs: number,
  labelOf: (model: string) => string,
): Said | null {
  const { last, span, block } = data;
  if (last !== undefined) {
    const move = moves.find(({ id }) => id === last);
    if (move === undefined) return null;
    const more = Number(data["more"]);
    return {
      title: `${clock(move.at_ms)} on ${move.device}${move.forced ? ", by the ceiling" : ""}`,
      body: more > 0 ? `${move.sentence} And ${more} more just before.` : move.sentence,
    };
  }
  if (span !== undefined) {
    const row = spans.find(([device, model, phase, fromMs]) => `${device}\n${model}\n${phase}\n${fromMs}` === span);
    return row === undefined ? null : spanText(row, nowMs, labelOf);
  }
  if (block === "paused" || block === "down") {
    const title = block === "paused" ? "Paused by an operator" : "The router was down";
    return { title, body: stretch(Number(data["from"]), Number(data["to"]), nowMs) };
  }
  return null;
}

function spanText(
  [device, model, phase, fromMs, toMs]: SpanRow,
  nowMs: number,
  labelOf: (model: string) => string,
): Said {
  return {
    title: `${labelOf(model)}: ${PHASES[phase as SpanPhase].toLowerCase()}`,
    body: `${stretch(fromMs, toMs ?? nowMs, nowMs)} on ${device}`,
  };
}

function stretch(fromMs: number, toMs: number, nowMs: number): string {
  const end = toMs >= nowMs ? "now" : clock(toMs);
  return `${clock(fromMs)} to ${end}, ${duration(Math.min(toMs, nowMs) - fromMs)}`;
}
