// Callers' priorities: a signed integer, higher is more urgent, and the band it falls into.

export type Band = "interactive" | "normal" | "batch";

/** Most urgent first. */
export const BANDS: readonly Band[] = ["interactive", "normal", "batch"];

/** The anchor of each band; offsets inside a band stay below half the distance between anchors. */
export const BAND_ANCHOR: Readonly<Record<Band, number>> = {
  interactive: 100,
  normal: 0,
  batch: -100,
};

/** What a waiting second of a job is worth by default, in those of a normal one. */
export const BAND_WEIGHT: Readonly<Record<Band, number>> = { interactive: 10, normal: 1, batch: 0.1 };

/** Priorities are clamped here, so that a rank stays exact in a double: |priority| x 60,000 ms is far below 2^53. */
export const PRIORITY_LIMIT = 1_000_000;

export function bandOf(priority: number): Band {
  if (priority >= 50) return "interactive";
  return priority <= -50 ? "batch" : "normal";
}

const INTEGER = /^[+-]?\d+$/;

/** Reads `SIR-Priority` and `X-LlamaSwap-Priority`. Absent or unparseable is 0: a hint is never an error. */
export function parsePriority(text: string | null | undefined): number {
  const word = text?.trim().toLowerCase() ?? "";
  if (Object.hasOwn(BAND_ANCHOR, word)) return BAND_ANCHOR[word as Band];
  if (!INTEGER.test(word)) return 0;
  return Math.max(-PRIORITY_LIMIT, Math.min(PRIORITY_LIMIT, Number(word)));
}

/** OpenAI's `service_tier`, read only when no header speaks. */
export function priorityOfServiceTier(tier: string | null): number {
  if (tier === "priority") return BAND_ANCHOR.interactive;
  return tier === "flex" ? BAND_ANCHOR.batch : BAND_ANCHOR.normal;
}
