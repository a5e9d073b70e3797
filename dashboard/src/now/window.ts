// Which stretch of time the history shows. Pure: from now, a range and where the reader moved it.

export const RANGES = ["5m", "15m", "1h", "2h", "6h"] as const;
export type Range = (typeof RANGES)[number];

const MINUTE = 60_000;
export const RANGE_MS: Readonly<Record<Range, number>> = {
  "5m": 5 * MINUTE,
  "15m": 15 * MINUTE,
  "1h": 60 * MINUTE,
  "2h": 120 * MINUTE,
  "6h": 360 * MINUTE,
};

/** Of the width, right of now: for what is expected. */
const AHEAD = 0.06;
const SLOWEST_MS = 2000;
/** The router is asked again when the picture has moved by so much of itself. */
const READ_STEP = 0.25;

export interface Window {
  readonly fromMs: number;
  readonly toMs: number;
  /** In steps of a pixel, at least two seconds: the picture is not drawn more often. */
  readonly nowMs: number;
  readonly readFromMs: number;
  /** Null: what comes is put in as it comes. */
  readonly readToMs: number | null;
}

export function isRange(text: string): text is Range {
  return (RANGES as readonly string[]).includes(text);
}

/** The shortest that shows what began at `earliestMs`; two hours at most. */
export function rangeBackTo(earliestMs: number, atMs: number): Range {
  return RANGES.find((range) => range !== "6h" && atMs - earliestMs < RANGE_MS[range] * (1 - AHEAD)) ?? "2h";
}

/** @param untilMs The right edge where the reader looks back; null: now, and a little more. */
export function windowAt(nowMs: number, range: Range, untilMs: number | null, px: number): Window {
  const rangeMs = RANGE_MS[range];
  const stepMs = Math.max(SLOWEST_MS, rangeMs / px);
  const shownNowMs = Math.floor(nowMs / stepMs) * stepMs;
  if (untilMs !== null && untilMs < nowMs) {
    const fromMs = untilMs - rangeMs;
    return { fromMs, toMs: untilMs, nowMs: shownNowMs, readFromMs: fromMs, readToMs: untilMs };
  }
  const toMs = shownNowMs + rangeMs * AHEAD;
  const readStepMs = rangeMs * READ_STEP;
  const readFromMs = nowMs === 0 ? 0 : Math.floor((toMs - rangeMs) / readStepMs) * readStepMs;
  return { fromMs: toMs - rangeMs, toMs, nowMs: shownNowMs, readFromMs, readToMs: null };
}

/** What a key makes of the address's query; null: it is no key of the history. */
export function keyOfWindow(
  key: string,
  range: Range,
  { fromMs, toMs }: Pick<Window, "fromMs" | "toMs">,
  nowMs: number,
): Readonly<Record<string, string | null>> | null {
  const at = RANGES.indexOf(range);
  const shiftMs = (toMs - fromMs) / 2;
  switch (key) {
    case "+":
    case "=":
      return { range: RANGES[Math.max(0, at - 1)] ?? range };
    case "-":
      return { range: RANGES[Math.min(RANGES.length - 1, at + 1)] ?? range };
    case "[":
      return { until: String(Math.round(toMs - shiftMs)) };
    case "]":
      return { until: toMs + shiftMs >= nowMs ? null : String(Math.round(toMs + shiftMs)) };
    case "0":
      return { until: null };
    default:
      return null;
  }
}
