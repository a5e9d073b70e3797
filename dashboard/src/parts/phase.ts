// What a model does on a device, in the words and the textures of every page.

import type { SpanPhase } from "../../../src/client/wire-live.ts";

export const PHASES: Readonly<Record<SpanPhase, string>> = {
  serving: "Serving",
  idle: "Loaded, idle",
  loading: "Loading",
  draining: "Letting jobs finish",
  unloading: "Freeing memory",
  failed: "Load failed",
};

/** The class whose ground is that of the bar; see parts.css. */
export const PHASE_CLASS: Readonly<Record<SpanPhase, string>> = {
  serving: "c-running",
  idle: "c-idle",
  loading: "c-loading",
  draining: "c-draining",
  unloading: "c-unloading",
  failed: "c-model_broken",
};

export function phaseFill(phase: SpanPhase): string {
  if (phase === "serving") return "var(--serving)";
  if (phase === "idle") return "var(--idle)";
  return `url(#p-${phase})`;
}
