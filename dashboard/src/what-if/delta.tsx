// A figure as it was and as it would have been, with an arrow and a word for better and worse.

import { percent } from "../../../src/scheduler/wording.ts";
import { duration } from "../parts/time.ts";
import { shift } from "./verdict.ts";

interface DeltaProps {
  /** What it is, where there is no room for a head above. */
  readonly name: string;
  readonly before: number;
  readonly after: number;
  readonly unit: "s" | "count" | "share";
}

const LEAST_SHARE = 0.005;

export function Delta({ name, before, after, unit }: DeltaProps) {
  const way = direction(before, after, unit);
  return (
    <td class="num delta" data-name={name}>
      <span class="dim">{text(before, unit)}</span> <span aria-hidden="true">→</span>
      <span class="sr"> would have been</span> <b>{text(after, unit)}</b>{" "}
      <span class={`change ${way === 0 ? "same" : way < 0 ? "better" : "worse"}`}>
        {way === 0 ? <span aria-hidden="true">=</span> : `${way < 0 ? "▼" : "▲"} ${amount(before, after, unit)}`}
        <span class="sr">{way === 0 ? "unchanged" : way < 0 ? " better" : " worse"}</span>
      </span>
    </td>
  );
}

function direction(before: number, after: number, unit: DeltaProps["unit"]): number {
  if (unit === "s") return shift(before, after);
  if (unit === "share" && Math.abs(after - before) < LEAST_SHARE) return 0;
  return Math.sign(after - before);
}

function text(value: number, unit: DeltaProps["unit"]): string {
  if (unit === "count") return String(value);
  return unit === "s" ? duration(value * 1000) : percent(value);
}

/** By how much, as a share where there is something to share. */
function amount(before: number, after: number, unit: DeltaProps["unit"]): string {
  const change = Math.abs(after - before);
  if (unit === "count") return String(change);
  if (unit === "share") return `${Math.round(change * 1000) / 10} pp`;
  return before < 1 || change > before * 9.99 ? duration(change * 1000) : `${Math.round((100 * change) / before)} %`;
}
