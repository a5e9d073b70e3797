// The snapshot made ready for a decision: who may be chosen and who may not, what the policy prefers, and the few facts
// that every rule asks for. Built once per decision, O(models).

import { byOldest, firstBy, isBusy } from "./policies/ties.ts";
import type { Barrier, BoundPolicy, Candidate, Choice, GuardSettings } from "./policy.ts";
import type { DeviceView, ModelView, Resident, Snapshot } from "./snapshot.ts";

export interface Scene {
  readonly snapshot: Snapshot;
  readonly nowMs: number;
  readonly guards: GuardSettings;
  readonly candidates: readonly Candidate[];
  readonly choice: Choice;
  /** The model on the device, as a candidate and as a residency; both or neither. */
  readonly resident: Candidate | null;
  readonly residency: Resident | null;
  /** Null while it has work. */
  readonly idleSinceMs: number | null;
  /** Models with demand that are not on the device, by whether they may be loaded now. */
  readonly waiting: readonly Candidate[];
  readonly shutOut: readonly Candidate[];
}

export function sceneOf(snapshot: Snapshot, policy: BoundPolicy): Scene {
  const { nowMs, device } = snapshot;
  const residency = device.residents[0] ?? null;
  const candidates = snapshot.models.map((view) => candidateOf(view, device, nowMs));
  const resident = candidates.find((each) => each.model === residency?.model) ?? null;
  const idleSinceMs = resident === null || isBusy(resident) ? null : (residency?.idleSinceMs ?? null);
  const choice = policy.choose({
    snapshot,
    candidates,
    resident,
    residentIdleSinceMs: idleSinceMs,
    residentIdleMs: idleSinceMs === null ? 0 : Math.max(0, nowMs - idleSinceMs),
  });
  const others = candidates.filter((each) => each.depth > 0 && !each.resident);
  return {
    snapshot,
    nowMs,
    guards: policy.guards,
    candidates,
    choice,
    resident,
    residency,
    idleSinceMs,
    waiting: others.filter((each) => each.eligible),
    shutOut: others.filter((each) => !each.eligible),
  };
}

function candidateOf(view: ModelView, device: DeviceView, nowMs: number): Candidate {
  const resident = device.residents.some((each) => each.model === view.model);
  const barrier = barrierOf(view, device, nowMs);
  const oldestWaitMs = view.oldest === null ? 0 : Math.max(0, nowMs - view.oldest.acceptedAtMs);
  return { ...view, resident, barrier, eligible: barrier === null, oldestWaitMs };
}

/** Why the model may not be loaded on the device now, or, when it is there already, why it cannot be served. */
export function barrierOf(view: ModelView, device: DeviceView, nowMs: number): Barrier | null {
  const resident = device.residents.some((each) => each.model === view.model);
  if (view.paused) return { code: "paused", words: "is paused by an operator", untilMs: null };
  if (!resident && view.memoryGiB !== null && device.memoryGiB !== null && view.memoryGiB > device.memoryGiB) {
    const words = `needs ${view.memoryGiB} GiB and the device has ${device.memoryGiB} GiB`;
    return { code: "no_room", words, untilMs: null };
  }
  if (view.retryAtMs > nowMs || (resident && view.broken)) {
    const words = view.broken
      ? "failed to load too often and waits for its next trial load"
      : "failed to load and waits before it is tried again";
    return { code: "back_off", words, untilMs: resident && view.broken ? null : view.retryAtMs };
  }
  if (!resident && device.blockedUntilMs > nowMs) {
    return { code: "blocked", words: "the device has not given its memory back", untilMs: device.blockedUntilMs };
  }
  return null;
}

/**
 * The model that has gone without the device for longest: since its oldest job came, or since it was last there. Counting
 * from the visit keeps two old backlogs from passing the device to each other while a third model waits.
 */
export function longestUnvisited(candidates: readonly Candidate[]): Candidate | null {
  const since = (each: Candidate): number => Math.max(each.oldest?.acceptedAtMs ?? 0, each.leftAtMs ?? 0);
  return firstBy(candidates, (a, b) => since(a) - since(b) || byOldest(a, b));
}

/** The earliest of these instants that lies after now; null when none does. */
export function earliestAfter(nowMs: number, instants: readonly (number | null)[]): number | null {
  let earliest: number | null = null;
  for (const each of instants) {
    if (each !== null && each > nowMs && (earliest === null || each < earliest)) earliest = each;
  }
  return earliest;
}
