// What lies behind the bars of a Gantt chart: pauses, downtimes, the stretch and the lines that the picture is about.

import type { DeviceLanes } from "./gantt-layout.ts";
import type { GanttProps } from "./gantt-props.ts";
import { pauseWords } from "./pause-words.ts";

interface BackdropProps extends GanttProps {
  readonly rows: readonly DeviceLanes[];
  readonly top: number;
  readonly bottom: number;
  x(ms: number): number;
}

export function Backdrop(props: BackdropProps) {
  const { pauses = [], downtimes = [], shade, lines = [], rows, fromMs, toMs, nowMs, x, top, bottom } = props;
  const inSight = (from: number, to: number): boolean => to > fromMs && from < toMs;
  const block = (from: number, to: number, name: string, said?: string, row = { y: top, bottom }) => (
    <rect
      key={`${name}${from} ${row.y}`}
      class={`g-${name}`}
      fill={name === "paused" ? "url(#p-paused)" : name === "down" ? "url(#p-failed)" : undefined}
      x={x(from)}
      y={row.y}
      width={Math.max(2, x(to) - x(from))}
      height={row.bottom - row.y}
      data-block={name}
      data-from={from}
      data-to={to}
      data-said={said}
    />
  );
  return (
    <>
      {shade !== undefined && block(shade.fromMs, shade.toMs, "shade")}
      {pauses
        .filter(([from, to, device]) => inSight(from, to ?? nowMs) && (device === null || rows.some(isOf(device))))
        .map(([from, to, device, who, note]) => {
          // A device's own lies behind its own lanes.
          const row = device === null ? undefined : rows.find(isOf(device));
          return block(from, Math.min(to ?? nowMs, nowMs), "paused", pauseWords({ who, note }), row);
        })}
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

const isOf =
  (device: string) =>
  ({ id }: DeviceLanes): boolean =>
    id === device;
