// Decisions on a device's rail: a diamond for a swap, red and with a bang where the ceiling forced it, a ring for a load
// that nobody had to leave for, a triangle for an unload. Several that would touch are one mark with their number.

import type { MoveWire } from "../../../src/client/wire-live.ts";
import { href } from "../route.ts";
import type { DeviceLanes, Mark } from "./gantt-layout.ts";
import { clock } from "./time.ts";

interface MarkRailProps {
  readonly marks: readonly Mark[];
  readonly row: DeviceLanes;
  readonly y: number;
  readonly lane: number;
  /** The one that Tab reaches. */
  readonly current: string | null;
  readonly marked: string | null;
}

export function MarkRail({ marks, row, y, lane, current, marked }: MarkRailProps) {
  return (
    <>
      {marks.map((mark) => {
        const last = mark.moves.at(-1);
        const target = row.lanes.find(({ id }) => id === (last?.load ?? last?.evict[0]));
        return (
          <g key={mark.id}>
            {target !== undefined && (
              <line class="g-stem" x1={mark.x} x2={mark.x} y1={y + 7} y2={target.y + lane / 2} />
            )}
            <a
              class={`g-mark${mark.moves.some(({ id }) => id === marked) ? " is-marked" : ""}`}
              href={href(["decisions", last?.id ?? mark.id])}
              tabIndex={mark.id === current ? 0 : -1}
              data-mark={mark.id}
              data-last={last?.id}
              data-more={mark.moves.length - 1}
              aria-label={nameOf(mark)}
            >
              <circle class="g-reach" cx={mark.x} cy={y} r={12} />
              <Glyph mark={mark} y={y} />
            </a>
          </g>
        );
      })}
    </>
  );
}

function Glyph({ mark, y }: { readonly mark: Mark; readonly y: number }) {
  const { x, moves } = mark;
  const forced = moves.some((move) => move.forced);
  const [only] = moves;
  if (moves.length > 1) {
    return (
      <>
        <rect class={`g-many${forced ? " forced" : ""}`} x={x - 8} y={y - 7} width={16} height={14} rx={4} />
        <text class="g-bang" x={x} y={y + 3.5} text-anchor="middle">
          {moves.length > 99 ? "99" : moves.length}
        </text>
      </>
    );
  }
  if (only === undefined || only.kind === "load" || only.kind === "preload") {
    return <circle class={`g-ring${only?.kind === "preload" ? " ahead" : ""}`} cx={x} cy={y} r={5} />;
  }
  if (only.kind === "unload") return <path class="g-diamond" d={`M${x - 6} ${y - 4}h12l-6 9z`} />;
  return (
    <>
      <path class={`g-diamond${forced ? " forced" : ""}`} d={`M${x} ${y - 7}l7 7l-7 7l-7 -7z`} />
      {forced && (
        <text class="g-bang" x={x} y={y + 3.5} text-anchor="middle">
          !
        </text>
      )}
    </>
  );
}

/** What is read out: when, and what was decided. */
function nameOf({ moves }: Mark): string {
  const last = moves.at(-1) as MoveWire;
  const told = `${clock(last.at_ms)}: ${last.sentence}`;
  return moves.length === 1 ? told : `${moves.length} decisions, the last at ${told}`;
}

/** The mark that an arrow key leads to; null for any other key. */
export function stepMark(event: KeyboardEvent, marks: readonly Mark[], current: string | null): string | null {
  const steps: Readonly<Record<string, number>> = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
  const step = steps[event.key];
  if (step === undefined || marks.length === 0) return null;
  event.preventDefault();
  const at = marks.findIndex(({ id }) => id === current);
  const focused = event.target instanceof Element && event.target.hasAttribute("data-mark");
  const next = focused ? at + step : at;
  return marks[Math.min(marks.length - 1, Math.max(0, next))]?.id ?? null;
}
