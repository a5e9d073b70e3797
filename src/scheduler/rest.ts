// What a device does when nothing it could serve waits: let go of what has idled too long, bring in what is wanted.

import { firstBy, isBusy } from "./policies/ties.ts";
import type { Candidate, Tenant } from "./policy.ts";
import { heldForAt } from "./preload.ts";
import type { Scene } from "./scene.ts";
import { type Decided, move, unload } from "./verdict.ts";

/** Most pressing first. */
const WISHES = ["restore", "pinned", "keep_ready"] as const;
type Wish = (typeof WISHES)[number];

/**
 * Where there is room, the last good model comes back, else a pinned one, else one to be kept ready. A pinned model also
 * takes the place of idle ones that are not pinned. What is to be kept ready is not unloaded for being idle: it would come
 * straight back. Null: rest.
 */
export function restMove(scene: Scene): Decided | null {
  if (scene.strangers.length > 0) return unload(scene, scene.strangers, "removed");
  for (const wish of WISHES) {
    const target = wished(scene, wish, ({ victims }) => victims.length === 0);
    if (target !== null) return move(scene, target, wish, null);
  }
  const pinned = wished(scene, "pinned", ({ victims }) => victims.every((each) => !each.pinned && !isBusy(each)));
  if (pinned !== null) return move(scene, pinned, "pinned", null);
  return idleUnload(scene);
}

/** Takes out what has idled too long. */
export function idleUnload(scene: Scene): Decided | null {
  const idle = scene.tenants.filter((each) => {
    const atMs = unloadAt(each);
    return atMs !== null && scene.nowMs >= atMs;
  });
  if (idle.length === 0) return null;
  return unload(
    scene,
    idle.map(({ model }) => model),
    "idle_timeout",
  );
}

/** When a device at rest can change with no event. */
export function restLooks(scene: Scene): readonly (number | null)[] {
  const wanted = scene.candidates.filter((each) => each.wanted !== null && !each.resident);
  const barred = [...wanted, ...scene.tenants];
  return [...scene.tenants.map(unloadAt), ...barred.map((each) => each.barrier?.untilMs ?? null)];
}

function unloadAt(tenant: Tenant): number | null {
  if (tenant.foreign === true || tenant.leaving || tenant.pinned) return null;
  if (tenant.unloadAfterMs === null || tenant.idleSinceMs === null) return null;
  if (tenant.wanted === "keep_ready" || tenant.wanted === "pinned") return null;
  return heldForAt(tenant, tenant.idleSinceMs + tenant.unloadAfterMs);
}

function wished({ candidates }: Scene, wish: Wish, may: (each: Candidate) => boolean): Candidate | null {
  const open = candidates.filter((each) => each.wanted === wish && !each.resident && each.eligible && may(each));
  return firstBy(open, () => 0);
}
