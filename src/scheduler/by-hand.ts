// What an operator does by hand, as a verdict: the act, with what the rule would have compared at that moment.

import type { ModelName } from "../domain/ids.ts";
import type { BoundPolicy } from "./policy.ts";
import { sceneOf } from "./scene.ts";
import type { Snapshot } from "./snapshot.ts";
import { type Decided, stay, unload } from "./verdict.ts";

export interface ByHand {
  /** `drain`: it is unloaded where it is loaded, and starts nothing until somebody loads it. */
  readonly act: "unload" | "drain" | "pin" | "unpin";
  readonly model: ModelName;
  /** Jobs that run on what is unloaded, and whether they are interrupted instead of finished. */
  readonly running?: number;
  readonly force?: boolean;
}

/** An unload where the model is loaded on the device or on its way there; else nothing moves. */
export function verdictByHand(snapshot: Snapshot, policy: BoundPolicy, byHand: ByHand): Decided {
  const { act, model, running = 0, force = false } = byHand;
  const scene = sceneOf(snapshot, policy);
  const { residents, transition } = snapshot.device;
  const here = residents.some((each) => each.model === model) || transition?.load === model;
  if (here && (act === "unload" || act === "drain")) {
    const numbers = { running_jobs: running, interrupted: force ? 1 : 0 };
    return { ...unload(scene, [model], act === "drain" ? "drain" : "operator"), numbers };
  }
  const waits = snapshot.models.some(({ depth }) => depth > 0);
  const reason = act === "unload" ? "operator" : act;
  const held = stay(scene, waits ? "hold" : "idle", reason, null, null, null);
  return { ...held, about: model };
}
