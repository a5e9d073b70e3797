// A model's state in the words and textures that the chart uses for it.

import type { ModelStatusWire } from "../../../src/client/wire-status.ts";

export const MODEL_STATE = {
  serving: "Serving",
  idle: "Loaded, idle",
  loading: "Loading",
  coming: "Making room for it",
  draining: "Letting jobs finish",
  unloading: "Freeing memory",
  failed: "Load failed",
  asleep: "Asleep",
  absent: "Not loaded",
  remote: "Always on",
} as const;

export type ModelState = keyof typeof MODEL_STATE;

export function modelState({
  state,
  running,
  waiting,
}: Pick<ModelStatusWire, "state" | "running" | "waiting">): ModelState {
  const roomIsMade = waiting?.cause === "draining" || waiting?.cause === "unloading";
  if (state === "loading" && roomIsMade) return "coming";
  switch (state) {
    case "resident":
      return running > 0 ? "serving" : "idle";
    case "broken":
      return "failed";
    case "loading":
    case "draining":
    case "unloading":
    case "asleep":
    case "remote":
      return state;
    default:
      return "absent";
  }
}
