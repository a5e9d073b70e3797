// Devices over time: a lane for each model, so that a model is told by its place and its state by ink, texture and
// height; above each device a rail with its decisions. Arrow keys walk the decisions; the whole is one tab stop.

import { useRef, useState } from "preact/hooks";
import type { MoveWire, SpanRow, TimelineWire } from "../../../src/client/wire-live.ts";
import { Axis, DeviceRow, NowLine } from "./gantt-drawing.tsx";
import { barsOf, type Heights, type LaneDevice, lanesOf, marksOf, scaleOf } from "./gantt-layout.ts";
import { MarkRail, stepMark } from "./gantt-marks.tsx";
import { GanttTip, type Tip, tipOf } from "./gantt-tip.tsx";
import { PHONE, useMedia, useWidth } from "./size.ts";
import { clockMinutes } from "./time.ts";
import "./gantt.css";

/** The width of the names at the left; a chart that shares the axis takes the same. */
export const GUTTER_PX = 168;
export const RIGHT_PX = 12;

export interface Planned {
  readonly device: string;
  readonly model: string;
  readonly fromMs: number;
  readonly toMs: number;
}

export interface GanttProps {
  /** Names the picture, e.g. "What gpu0 did meanwhile". */
  readonly title: string;
  readonly devices: readonly LaneDevice[];
  readonly spans: readonly SpanRow[];
  readonly moves?: readonly MoveWire[];
  readonly pauses?: TimelineWire["pauses"];
  readonly downtimes?: TimelineWire["downtimes"];
  readonly fromMs: number;
  readonly toMs: number;
  /** Nothing is drawn behind it; its line is drawn when it is in sight. */
  readonly nowMs: number;
  readonly compact?: boolean;
  /** A stretch to look at, e.g. a job's life. */
  readonly shade?: { readonly fromMs: number; readonly toMs: number };
  readonly lines?: readonly { readonly atMs: number; readonly label: string }[];
  /** What is expected: an outline. */
  readonly planned?: readonly Planned[];
  /** The decision that the page is about. */
  readonly marked?: string;
}

export function Gantt(props: GanttProps) {
  const { title, devices, spans, moves = [], fromMs, toMs, nowMs, compact = false, marked } = props;
  const [box, width] = useWidth<HTMLDivElement>();
  const phone = useMedia(PHONE);
  const svg = useRef<SVGSVGElement>(null);
  const [tip, setTip] = useState<Tip | null>(null);
  const [stop, setStop] = useState<string | null>(null);
  const heights = heightsOf(phone, compact, moves.length > 0);
  const left = phone ? 0 : GUTTER_PX;
  const scale = scaleOf(fromMs, toMs, left, Math.max(0, width - left - (phone ? 0 : RIGHT_PX)));
  const rows = lanesOf(devices, heights);
  const bottom = rows.at(-1)?.bottom ?? heights.axis;
  const marks = rows.map((row) => marksOf(moves, row.id, scale));
  const all = marks.flat();
  const current = all.find(({ id }) => id === stop)?.id ?? all.at(-1)?.id ?? null;

  const show = (event: Event): void => setTip(tipOf(event, spans, moves, nowMs, labelOf(devices)));
  const walk = (event: KeyboardEvent): void => {
    const next = stepMark(event, all, current);
    if (next === null) return;
    setStop(next);
    svg.current?.querySelector<SVGElement>(`[data-mark="${CSS.escape(next)}"]`)?.focus();
  };
  return (
    <figure class="gantt" aria-label={title}>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the marks inside are links; this only walks between them */}
      <div
        class="gantt-body"
        ref={box}
        onKeyDown={walk}
        onPointerOver={show}
        onFocusIn={show}
        onPointerLeave={() => setTip(null)}
        onFocusOut={() => setTip(null)}
      >
        {width > 0 && (
          // biome-ignore lint/a11y/useSemanticElements: a drawing holds no fieldset
          <svg ref={svg} width={width} height={bottom + 8} role="group" aria-label={describe(props, all.length)}>
            <Backdrop {...props} x={scale.x} top={heights.axis} bottom={bottom} />
            <Axis scale={scale} y={heights.axis} bottom={bottom} nowMs={nowMs} phone={phone} />
            {rows.map((row, index) => (
              <g key={row.id}>
                <DeviceRow
                  row={row}
                  heights={heights}
                  phone={phone}
                  width={width}
                  bars={row.lanes.map((lane) => barsOf(spans, row.id, lane.id, scale, nowMs))}
                  planned={(props.planned ?? []).filter(({ device }) => device === row.id)}
                  scale={scale}
                />
                <MarkRail
                  marks={marks[index] ?? []}
                  row={row}
                  y={row.y + heights.rail / 2}
                  lane={heights.lane}
                  current={current}
                  marked={marked ?? null}
                />
              </g>
            ))}
            <NowLine scale={scale} nowMs={nowMs} y={heights.axis} bottom={bottom} />
          </svg>
        )}
        {tip !== null && <GanttTip tip={tip} width={width} />}
      </div>
    </figure>
  );
}

/** Pauses, downtimes and what the picture is about, behind everything. */
function Backdrop(props: GanttProps & { x(ms: number): number; readonly top: number; readonly bottom: number }) {
  const { pauses = [], downtimes = [], shade, lines = [], fromMs, toMs, nowMs, x, top, bottom } = props;
  const inSight = (from: number, to: number): boolean => to > fromMs && from < toMs;
  const block = (from: number, to: number, name: string) => (
    <rect
      key={`${name}${from}`}
      class={`g-${name}`}
      fill={name === "paused" ? "url(#p-paused)" : name === "down" ? "url(#p-failed)" : undefined}
      x={x(from)}
      y={top}
      width={Math.max(2, x(to) - x(from))}
      height={bottom - top}
      data-block={name}
      data-from={from}
      data-to={to}
    />
  );
  return (
    <>
      {shade !== undefined && block(shade.fromMs, shade.toMs, "shade")}
      {pauses
        .filter(([from, to]) => inSight(from, to ?? nowMs))
        .map(([from, to]) => block(from, Math.min(to ?? nowMs, nowMs), "paused"))}
      {downtimes.filter(([from, to]) => inSight(from, to)).map(([from, to]) => block(from, to, "down"))}
      {lines
        .filter(({ atMs }) => atMs >= fromMs && atMs <= toMs)
        .map(({ atMs, label }) => (
          <g key={label}>
            <line class="g-line" x1={x(atMs)} x2={x(atMs)} y1={top} y2={bottom + 4} />
            <title>{label}</title>
          </g>
        ))}
    </>
  );
}

function heightsOf(phone: boolean, compact: boolean, marks: boolean): Heights {
  const lane = phone ? 34 : compact ? 21 : 27;
  return { axis: 24, rail: marks ? 34 : 26, lane, gap: 10 };
}

function labelOf(devices: readonly LaneDevice[]): (model: string) => string {
  const labels = new Map(devices.flatMap(({ models }) => models.map(({ id, label }) => [id, label])));
  return (model) => labels.get(model) ?? model;
}

function describe({ title, fromMs, toMs, nowMs }: GanttProps, decisions: number): string {
  const range = `${clockMinutes(fromMs)} to ${clockMinutes(Math.min(toMs, nowMs))}`;
  if (decisions === 0) return `${title}, ${range}.`;
  return `${title}, ${range}, with ${decisions === 1 ? "1 decision" : `${decisions} decisions`}. Arrow keys go from one to the next.`;
}
