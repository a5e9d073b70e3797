// Which rows of a long list are drawn, and where a key moves the cursor. Pure.

export interface Span {
  readonly from: number;
  /** Excluded. */
  readonly to: number;
}

const AROUND = 8;

/** @param topPx Where the list begins, measured from the top of the window; negative once it is scrolled. */
export function spanInView(topPx: number, windowPx: number, count: number, rowPx: number): Span {
  const from = Math.floor(-topPx / rowPx) - AROUND;
  const to = Math.ceil((windowPx - topPx) / rowPx) + AROUND;
  const clamp = (index: number): number => Math.max(0, Math.min(count, index));
  return { from: clamp(from), to: Math.max(clamp(from), clamp(to)) };
}

const STEPS: Readonly<Record<string, number>> = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1, PageDown: 12, PageUp: -12 };

/**
 * Where the cursor goes; null: the key moves nothing.
 * @param at -1: it is nowhere yet.
 * @param inside The list has the focus; from outside only letters move, because arrows scroll the page.
 */
export function moved(key: string, at: number, count: number, inside: boolean): number | null {
  if (count === 0) return null;
  if (inside && key === "Home") return 0;
  if (inside && key === "End") return count - 1;
  const step = STEPS[key];
  if (step === undefined || (!inside && key.length > 1)) return null;
  return Math.max(0, Math.min(count - 1, at + step));
}
