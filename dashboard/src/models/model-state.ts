// A model's state in the words and textures that the chart uses for it.

import type { ModelStatusWire } from "../../../src/client/wire-status.ts";

export const MODEL_STATE = {
  serving: "Serving",
  idle: "Loaded, idle",
  loading: "Loading",
  draining: "Letting jobs finish",
  unloading: "Freeing memory",
  failed: "Load failed",
  asleep: "Asleep",
  absent: "Not loaded",
  remote: "Always on",
} as const;

export type ModelState = keyof typeof MODEL_STATE;

export function modelState({ state, running }: Pick<ModelStatusWire, "state" | "running">): ModelState {
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
