// Devices over time: a lane for each model, so that a model is told by its place and its state by ink, texture and
// height; above each device a rail with its decisions. Arrow keys walk the decisions; the whole is one tab stop.

import { useMemo, useRef, useState } from "preact/hooks";
import type { MoveWire } from "../../../src/client/wire-live.ts";
import { Backdrop } from "./gantt-backdrop.tsx";
import { Axis, DeviceRow, NowLine } from "./gantt-drawing.tsx";
import {
  barsOf,
  type DeviceLanes,
  type Heights,
  lanesOf,
  type Mark,
  marksOf,
  type Scale,
  scaleOf,
} from "./gantt-layout.ts";
import { MarkRail, stepMark } from "./gantt-marks.tsx";
import type { GanttProps } from "./gantt-props.ts";
import { GanttTip, type Tip, tipOf } from "./gantt-tip.tsx";
import { memo } from "./memo.tsx";
import { PHONE, useMedia, useWidth } from "./size.ts";
import { clockMinutes } from "./time.ts";
import "./gantt.css";

/** The width of the names at the left; a chart that shares the axis takes the same. */
export const GUTTER_PX = 168;
export const RIGHT_PX = 12;

export function Gantt(props: GanttProps) {
  const { title, devices, spans, moves = NO_MOVES, fromMs, toMs, nowMs, compact = false } = props;
  const [box, width] = useWidth<HTMLDivElement>();
  const phone = useMedia(PHONE);
  const host = useRef<HTMLElement>(null);
  const [tip, setTip] = useState<Tip | null>(null);
  const [stop, setStop] = useState<string | null>(null);
  const layout = useMemo(
    () => layOut({ devices, moves, fromMs, toMs, width, phone, compact }),
    [devices, moves, fromMs, toMs, width, phone, compact],
  );
  const { scale, marks } = layout;
  const all = marks.flat();
  const current = all.find(({ id }) => id === stop)?.id ?? all.at(-1)?.id ?? null;
  const picture = { devices, spans, moves, nowMs, scale };
  const show = (event: Event): void => {
    const next = tipOf(event, picture);
    // Along one bar the tip stays where it came up.
    setTip((before) => (before !== null && next?.body === before.body && next.title === before.title ? before : next));
  };
  const walk = (event: KeyboardEvent): void => {
    const next = stepMark(event, all, current);
    if (next === null) return;
    setStop(next);
    host.current?.querySelector<SVGElement>(`[data-mark="${CSS.escape(next)}"]`)?.focus();
  };
  return (
    <figure class="gantt" aria-label={title} ref={host}>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the marks inside are links; this only walks between them */}
      <div
        class="gantt-body"
        ref={box}
        onKeyDown={walk}
        onPointerMove={show}
        onFocusIn={show}
        onPointerLeave={() => setTip(null)}
        onFocusOut={() => setTip(null)}
      >
        {width > 0 && <Drawing {...props} layout={layout} current={current} />}
        {tip !== null && <GanttTip tip={tip} width={width} />}
      </div>
    </figure>
  );
}

const NO_MOVES: readonly MoveWire[] = [];

interface DrawingProps extends GanttProps {
  readonly layout: Layout;
  /** The mark that Tab reaches. */
  readonly current: string | null;
}

/** Not drawn again while only the tip moves. */
const Drawing = memo((props: DrawingProps) => {
  const { layout, spans, nowMs, marked, current, planned = [] } = props;
  const { width, phone, heights, scale, rows, marks, bottom } = layout;
  return (
    // biome-ignore lint/a11y/useSemanticElements: a drawing holds no fieldset
    <svg width={width} height={bottom + 8} role="group" aria-label={describe(props, marks.flat().length)}>
      <Backdrop {...props} rows={rows} x={scale.x} top={heights.axis} bottom={bottom} />
      <Axis scale={scale} y={heights.axis} bottom={bottom} nowMs={nowMs} phone={phone} />
      {rows.map((row, index) => (
        <g key={row.id}>
          <DeviceRow
            row={row}
            heights={heights}
            phone={phone}
            width={width}
            bars={row.lanes.map((lane) => barsOf(spans, row.id, lane.id, scale, nowMs))}
            planned={planned.filter(({ device }) => device === row.id)}
            scale={scale}
          />
          <MarkRail
            marks={marks[index] ?? []}
            row={row}
            y={phone ? row.y + heights.rail - 12 : row.y + heights.rail / 2}
            lane={heights.lane}
            current={current}
            marked={marked ?? null}
          />
        </g>
      ))}
      <NowLine scale={scale} nowMs={nowMs} y={heights.axis} bottom={bottom} />
    </svg>
  );
});

interface Layout {
  readonly width: number;
  readonly phone: boolean;
  readonly heights: Heights;
  readonly scale: Scale;
  readonly rows: readonly DeviceLanes[];
  /** One list for each row. */
  readonly marks: readonly (readonly Mark[])[];
  readonly bottom: number;
}

type LayoutFacts = Pick<GanttProps, "devices" | "fromMs" | "toMs"> &
  Pick<Layout, "width" | "phone"> & { readonly moves: readonly MoveWire[]; readonly compact: boolean };

function layOut({ devices, moves, fromMs, toMs, width, phone, compact }: LayoutFacts): Layout {
  const heights = heightsOf(phone, compact, moves.length > 0);
  const left = phone ? 0 : GUTTER_PX;
  const scale = scaleOf(fromMs, toMs, left, Math.max(0, width - left - (phone ? 0 : RIGHT_PX)));
  const rows = lanesOf(devices, heights);
  const marks = rows.map((row) => marksOf(moves, row.id, scale));
  return { width, phone, heights, scale, rows, marks, bottom: rows.at(-1)?.bottom ?? heights.axis };
}

function heightsOf(phone: boolean, compact: boolean, marks: boolean): Heights {
  const lane = phone ? 34 : compact ? 21 : 27;
  // A phone has no room beside the marks for the device's name.
  return { axis: 24, rail: !marks ? 26 : phone ? 44 : 34, lane, gap: 10 };
}

function describe({ title, fromMs, toMs, nowMs }: GanttProps, decisions: number): string {
  const range = `${clockMinutes(fromMs)} to ${clockMinutes(Math.min(toMs, nowMs))}`;
  if (decisions === 0) return `${title}, ${range}.`;
  return `${title}, ${range}, with ${decisions === 1 ? "1 decision" : `${decisions} decisions`}. Arrow keys go from one to the next.`;
}
