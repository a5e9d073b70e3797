// What lies behind the bars of a Gantt chart: pauses, downtimes, the stretch and the lines that the picture is about.

import type { GanttProps } from "./gantt-props.ts";

export function Backdrop(props: GanttProps & { x(ms: number): number; readonly top: number; readonly bottom: number }) {
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
