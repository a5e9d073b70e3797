// A lane of time as characters: what a model did on a device, cell by cell.

import type { SpanPhase, SpanRow } from "../client/wire-live.ts";

export type Phase = SpanPhase;

export interface Marks extends Readonly<Record<Phase, string>> {
  readonly edge: string;
  readonly interactive: string;
  readonly normal: string;
  readonly batch: string;
}

export const MARKS: Readonly<Record<"unicode" | "ascii", Marks>> = {
  unicode: {
    ...{ serving: "█", idle: "─", loading: "▒", draining: "░", unloading: "░", failed: "x" },
    ...{ edge: "│", interactive: "▲", normal: "●", batch: "▼" },
  },
  ascii: {
    ...{ serving: "#", idle: "-", loading: "%", draining: ":", unloading: ":", failed: "x" },
    ...{ edge: "|", interactive: "^", normal: "o", batch: "v" },
  },
};

export interface Range {
  readonly fromMs: number;
  readonly toMs: number;
  /** In cells. */
  readonly width: number;
}

/** What is rare is shown although it is short: a load of seconds in an hour would else be lost. */
const RARITY: Readonly<Record<Phase, number>> = {
  failed: 6,
  loading: 5,
  unloading: 4,
  draining: 3,
  serving: 2,
  idle: 1,
};

/** What each cell shows; null: the model was not there. */
export function cellsOf(spans: readonly SpanRow[], { fromMs, toMs, width }: Range): (Phase | null)[] {
  const cells = new Array<Phase | null>(width).fill(null);
  const perCell = (toMs - fromMs) / Math.max(1, width);
  for (const [, , phase, from, to] of spans) {
    const end = Math.min(to ?? toMs, toMs);
    if (end < fromMs || from > toMs) continue;
    const first = Math.max(0, Math.floor((from - fromMs) / perCell));
    const last = Math.min(width - 1, Math.max(first, Math.ceil((end - fromMs) / perCell) - 1));
    for (let at = first; at <= last; at++) {
      const there = cells[at] ?? null;
      if (there === null || RARITY[phase] > RARITY[there]) cells[at] = phase;
    }
  }
  return cells;
}
