// A second policy beside the one that decides: asked on the same snapshots, never obeyed. What is written down is where
// it would move something else, once for each such disagreement; it sees only states that the first policy brought about.

import type { Verdict } from "../domain/decision.ts";
import type { DecisionId } from "../domain/ids.ts";
import { decide } from "../scheduler/decide.ts";
import type { Snapshot } from "../scheduler/snapshot.ts";
import type { EngineWorld } from "./state.ts";

export class ShadowWatch {
  readonly #world: EngineWorld;
  /** By device: the disagreement that goes on. */
  readonly #open = new Map<string, string>();

  constructor(world: EngineWorld) {
    this.#world = world;
  }

  look(snapshot: Snapshot, decided: Verdict, inForce: DecisionId | null): void {
    const shadow = this.#world.settings.shadow ?? null;
    const { device } = snapshot.device;
    // A move under way is everybody's; what either would do next is asked when it is over.
    if (shadow === null || decided.guard === "in_transition") {
      this.#open.delete(device);
      return;
    }
    const { serve: _, serves: __, against: ___, first: ____, ...verdict } = decide(snapshot, shadow.policy);
    const [done, wished] = [wishOf(decided), wishOf(verdict)];
    if (done === wished) {
      this.#open.delete(device);
      return;
    }
    const disagreement = `${done}, not ${wished}`;
    if (this.#open.get(device) === disagreement) return;
    this.#open.set(device, disagreement);
    const { store, emit } = this.#world;
    const { policy, set } = shadow;
    store.append([
      {
        type: "shadow",
        shadow: { atMs: snapshot.nowMs, device, decision: inForce, policy: policy.name, set, verdict },
      },
    ]);
    emit({ type: "shadow.disagreed", device, policy: policy.name, done: kindOf(decided), wished: kindOf(verdict) });
  }
}

const stays = ({ kind }: Verdict): boolean => kind === "hold" || kind === "idle";

function kindOf(verdict: Verdict): "move" | "stay" {
  return stays(verdict) ? "stay" : "move";
}

/** What a verdict does, whatever its reason: two policies that do the same agree. */
function wishOf(verdict: Verdict): string {
  if (stays(verdict)) return "stay";
  return `${verdict.kind} ${verdict.load ?? ""} for ${[...verdict.evict].sort().join(" ")}`;
}
