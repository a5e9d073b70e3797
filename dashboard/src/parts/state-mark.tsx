// What a job's status and its band look like: a glyph and the word, so that colour is never the only sign.

import type { WireStatus } from "../../../src/client/wire.ts";

export type BandName = "interactive" | "normal" | "batch";

export const BANDS: readonly BandName[] = ["interactive", "normal", "batch"];

export const BAND_GLYPH: Readonly<Record<BandName, string>> = { interactive: "▲", normal: "●", batch: "▼" };

const STATUS: Readonly<Record<WireStatus, readonly [glyph: string, word: string]>> = {
  queued: ["◷", "waiting"],
  in_progress: ["▶", "running"],
  completed: ["✓", "completed"],
  failed: ["✕", "failed"],
  cancelled: ["⊘", "cancelled"],
  expired: ["⌛", "expired"],
};

export function BandMark({ band }: { readonly band: BandName }) {
  return (
    <span class={`band b-${band}`}>
      <i aria-hidden="true">{BAND_GLYPH[band]}</i>
      {band}
    </span>
  );
}

export function StateMark({ status }: { readonly status: WireStatus }) {
  const [glyph, word] = STATUS[status];
  return (
    <span class={`job-status s-${status}`}>
      <i aria-hidden="true">{glyph}</i>
      {word}
    </span>
  );
}
