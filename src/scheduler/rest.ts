// What a device does when nothing it could serve waits: let go of what has idled too long, bring in what is wanted.

import type { Decided } from "./decide.ts";
import { firstBy, isBusy } from "./policies/ties.ts";
import type { Candidate } from "./policy.ts";
import { heldForAt } from "./preload.ts";
import type { Scene } from "./scene.ts";
import { move, unload } from "./verdict.ts";

/** Most pressing first. */
const WISHES = ["restore", "pinned", "keep_ready"] as const;
type Wish = (typeof WISHES)[number];

/**
 * An empty device takes back the last good model, else a pinned one, else one to keep ready. A pinned model also takes the
 * place of an idle one that is not pinned. What is to be kept ready is not unloaded for being idle: it would come straight
 * back. Null: rest.
 */
export function restMove(scene: Scene): Decided | null {
  const { resident, residency, nowMs } = scene;
  if (residency === null) {
    for (const wish of WISHES) {
      const target = wished(scene, wish);
      if (target !== null) return move(scene, target, wish, null);
    }
    return null;
  }
  if (resident === null) return unload(scene, "removed");
  if (resident.pinned || isBusy(resident)) return null;
  const pinned = wished(scene, "pinned");
  if (pinned !== null) return move(scene, pinned, "pinned", null);
  const unloadAtMs = unloadAt(scene);
  return unloadAtMs !== null && nowMs >= unloadAtMs ? unload(scene, "idle_timeout") : null;
}

/** When a device at rest can change with no event. */
export function restLooks(scene: Scene): readonly (number | null)[] {
  const wanted = scene.candidates.filter((each) => each.wanted !== null && !each.resident);
  const barred = scene.resident === null ? wanted : [...wanted, scene.resident];
  return [unloadAt(scene), ...barred.map((each) => each.barrier?.untilMs ?? null)];
}

function unloadAt({ resident, idleSinceMs }: Scene): number | null {
  if (resident === null || resident.pinned || resident.unloadAfterMs === null || idleSinceMs === null) return null;
  if (resident.wanted === "keep_ready" || resident.wanted === "pinned") return null;
  return heldForAt(resident, idleSinceMs + resident.unloadAfterMs);
}

function wished({ candidates }: Scene, wish: Wish): Candidate | null {
  return firstBy(
    candidates.filter((each) => each.wanted === wish && !each.resident && each.eligible),
    () => 0,
  );
}
