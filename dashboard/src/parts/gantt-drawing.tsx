// The strokes of a Gantt chart: axis, names, bars, the line of now.

import { type Bar, type DeviceLanes, type Heights, type Scale, shortened, ticksOf } from "./gantt-layout.ts";
import type { Planned } from "./gantt-props.ts";
import { phaseFill } from "./phase.ts";
import { clock, clockMinutes, offsetMinutes } from "./time.ts";

/** Letters of a model's name that fit into the gutter. */
const NAME_LETTERS = 21;
const NAME_LETTERS_PHONE = 40;
const CLEAR_PX = 36;
const CLEAR_PX_SECONDS = 46;

interface AxisProps {
  readonly scale: Scale;
  readonly y: number;
  readonly bottom: number;
  readonly nowMs: number;
  readonly phone: boolean;
}

export function Axis({ scale, y, bottom, nowMs, phone }: AxisProps) {
  const { atMs, stepMs } = ticksOf(scale, offsetMinutes(scale.fromMs));
  const seconds = stepMs < 60_000;
  const label = seconds ? clock : clockMinutes;
  const clear = seconds ? CLEAR_PX_SECONDS : CLEAR_PX;
  const nowX = nowMs <= scale.toMs && nowMs >= scale.fromMs ? scale.x(nowMs) : Number.NEGATIVE_INFINITY;
  return (
    <>
      {atMs.map((ms) => {
        const x = scale.x(ms);
        const edge = x > scale.left + scale.width - 18 ? "end" : phone && x < scale.left + 18 ? "start" : "middle";
        return (
          <g key={ms}>
            <line class="g-grid" x1={x} x2={x} y1={y - 4} y2={bottom} />
            {/* Moved inwards, a label with seconds would lie on its neighbour. */}
            {Math.abs(x - nowX) > clear && (edge === "middle" || !seconds) && (
              <text class="g-tick" x={x} y={y - 10} text-anchor={edge}>
                {label(ms)}
              </text>
            )}
          </g>
        );
      })}
    </>
  );
}

interface DeviceRowProps {
  readonly row: DeviceLanes;
  readonly heights: Heights;
  readonly phone: boolean;
  readonly width: number;
  /** One list for each lane. */
  readonly bars: readonly (readonly Bar[])[];
  readonly planned: readonly Planned[];
  readonly scale: Scale;
}

export function DeviceRow({ row, heights, phone, width, bars, planned, scale }: DeviceRowProps) {
  const bar = phone ? 15 : Math.round(heights.lane * 0.6);
  return (
    <>
      <line class="g-rule" x1={0} x2={width} y1={row.y + 0.5} y2={row.y + 0.5} />
      <text class="g-device" x={0} y={phone ? row.y + 16 : row.y + heights.rail / 2 + 5}>
        {row.id}
        <tspan class="g-about" dx="7">
          {row.about}
        </tspan>
      </text>
      {row.lanes.map((lane, index) => {
        const y = lane.y + (phone ? 16 : (heights.lane - bar) / 2);
        const plans = planned.filter(({ model }) => model === lane.id);
        return (
          <g key={lane.id}>
            <line class="g-base" x1={scale.left} x2={scale.left + scale.width} y1={y + bar / 2} y2={y + bar / 2} />
            <text class="g-model" x={phone ? 0 : 10} y={phone ? lane.y + 12 : lane.y + heights.lane / 2 + 4}>
              <title>{lane.id}</title>
              {shortened(lane.label, phone ? NAME_LETTERS_PHONE : NAME_LETTERS)}
            </text>
            <LaneBars bars={bars[index] ?? []} lane={`${row.id}\n${lane.id}`} y={y} height={bar} />
            {plans.map(({ fromMs, toMs }) => (
              <rect
                key={fromMs}
                class="g-plan"
                x={scale.x(fromMs)}
                y={y + 1}
                width={Math.max(4, scale.x(toMs) - scale.x(fromMs))}
                height={bar - 2}
                rx={2}
              />
            ))}
          </g>
        );
      })}
    </>
  );
}

interface LaneBarsProps {
  readonly bars: readonly Bar[];
  readonly lane: string;
  readonly y: number;
  readonly height: number;
}

/**
 * Serving is a solid block, idle a thin line, everything else has a texture. All bars of a state are one shape: a busy
 * hour has hundreds, and a shape for each would make the page slow.
 */
function LaneBars({ bars, lane, y, height }: LaneBarsProps) {
  const phases = [...new Set(bars.map(({ phase }) => phase))];
  return (
    <>
      {phases.map((phase) => (
        <path
          key={phase}
          class={`g-bar g-${phase}`}
          d={bars
            .filter((bar) => bar.phase === phase)
            .map((bar) => block(bar, y, height))
            .join("")}
          fill={phaseFill(phase)}
          data-lane={lane}
          data-phase={phase}
        />
      ))}
      {bars
        .filter((bar) => bar.phase === "failed" && bar.width > 14)
        .map((bar) => (
          <text key={bar.x} class="g-cross" x={bar.x + bar.width / 2} y={y + height / 2 + 4} text-anchor="middle">
            ✕
          </text>
        ))}
    </>
  );
}

function block({ phase, x, width }: Bar, y: number, height: number): string {
  const tall = phase === "idle" ? 4 : height;
  const left = Math.round(x * 10) / 10;
  return `M${left} ${y + (height - tall) / 2}h${Math.round(width * 10) / 10}v${tall}H${left}z`;
}

export function NowLine({ scale, nowMs, y, bottom }: Omit<AxisProps, "phone">) {
  if (nowMs < scale.fromMs || nowMs > scale.toMs) return null;
  const x = scale.x(nowMs);
  const box = Math.min(x - 17, scale.left + scale.width - 34);
  return (
    <g class="g-now">
      <line x1={x} x2={x} y1={y - 8} y2={bottom} />
      <rect x={box} y={y - 22} width={34} height={15} rx={7.5} />
      <text x={box + 17} y={y - 11} text-anchor="middle">
        now
      </text>
    </g>
  );
}
