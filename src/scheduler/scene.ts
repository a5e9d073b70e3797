// The snapshot made ready for a decision: who may be chosen and who may not, what the policy prefers, and the few facts
// that every rule asks for. Built once per decision, O(models).

import type { ModelName } from "../domain/ids.ts";
import { byOldest, firstBy, isBusy } from "./policies/ties.ts";
import type { Barrier, BoundPolicy, Candidate, Choice, GuardSettings, Tenant } from "./policy.ts";
import { devicesOf, tooLarge, victimsOf } from "./room.ts";
import type { DeviceView, ModelView, Resident, Snapshot } from "./snapshot.ts";
import { listed } from "./wording.ts";

export interface Scene {
  readonly snapshot: Snapshot;
  readonly nowMs: number;
  readonly guards: GuardSettings;
  readonly candidates: readonly Candidate[];
  /** What the policy says of all that may be loaded. */
  readonly choice: Choice;
  /** What is loaded, of the models that the snapshot knows. */
  readonly tenants: readonly Tenant[];
  /** What is loaded and no longer configured: it goes before anything comes. */
  readonly strangers: readonly ModelName[];
  /** Models with demand that are not loaded, by whether they may be loaded now. */
  readonly waiting: readonly Candidate[];
  readonly shutOut: readonly Candidate[];
  /** What the policy says when these are all that may be loaded. */
  ask(challengers: readonly Candidate[]): Choice;
}

export function sceneOf(snapshot: Snapshot, policy: BoundPolicy): Scene {
  const { nowMs, device } = snapshot;
  const residents = residentsOf(snapshot);
  const all = snapshot.models.map((view) => candidateOf(view, snapshot));
  const tenants = residents.flatMap((each) => {
    const candidate = all.find(({ model }) => model === each.model);
    return candidate === undefined ? [] : [tenantOf(candidate, each, nowMs)];
  });
  const candidates = all.map((each) => {
    const tenant = tenants.find(({ model }) => model === each.model);
    return tenant ?? barredByVictims({ ...each, victims: victimsOf(each, snapshot, tenants) }, snapshot);
  });
  const others = candidates.filter((each) => each.depth > 0 && !each.resident && each.foreign !== true);
  const waiting = others.filter((each) => each.eligible);
  const ask = (challengers: readonly Candidate[]): Choice =>
    policy.choose({ snapshot, candidates, tenants: tenants.filter(({ foreign }) => foreign !== true), challengers });
  return {
    snapshot,
    nowMs,
    guards: policy.guards,
    candidates,
    choice: ask(waiting),
    tenants,
    strangers: device.residents.map(({ model }) => model).filter((model) => !all.some((each) => each.model === model)),
    waiting,
    shutOut: others.filter((each) => !each.eligible),
    ask,
  };
}

/** Of the device and its partners; what is loaded across several once. */
function residentsOf({ device, partners = [] }: Snapshot): Resident[] {
  const found = new Map(device.residents.map((each) => [each.model, each]));
  for (const partner of partners) for (const each of partner.residents) found.set(each.model, each);
  return [...found.values()];
}

function candidateOf(view: ModelView, snapshot: Snapshot): Candidate {
  const resident = residentsOf(snapshot).some((each) => each.model === view.model);
  const barrier = barrierOf(view, snapshot, resident);
  const oldestWaitMs = view.oldest === null ? 0 : Math.max(0, snapshot.nowMs - view.oldest.acceptedAtMs);
  // What is added stands first: a spread with fields after it costs twenty times as much, for each model each time.
  return { resident, barrier, eligible: barrier === null, oldestWaitMs, victims: [], ...view };
}

function tenantOf(candidate: Candidate, resident: Resident, nowMs: number): Tenant {
  const { sinceMs, dispatched, forced, leaving = false } = resident;
  const idleSinceMs = isBusy(candidate) ? null : resident.idleSinceMs;
  const idleMs = idleSinceMs === null ? 0 : Math.max(0, nowMs - idleSinceMs);
  return { sinceMs, idleSinceMs, idleMs, dispatched, forced, leaving, ...candidate };
}

/** Why the model may not be loaded now, or, when it is loaded already, why it cannot be served. */
function barrierOf(view: ModelView, snapshot: Snapshot, resident: boolean): Barrier | null {
  const { nowMs } = snapshot;
  if (view.paused) return { code: "paused", words: "is paused by an operator", untilMs: null };
  const devices = devicesOf(view, snapshot);
  const small = devices.find((device) => tooLarge(view, device));
  if (!resident && small !== undefined) {
    const words = `needs ${view.memoryGiB} GiB and the device has ${small.memoryGiB} GiB`;
    return { code: "no_room", words, untilMs: null };
  }
  if (view.retryAtMs > nowMs || (resident && view.broken)) {
    const words = view.broken
      ? "failed to load too often and waits for its next trial load"
      : "failed to load and waits before it is tried again";
    return { code: "back_off", words, untilMs: resident && view.broken ? null : view.retryAtMs };
  }
  const blockedUntilMs = Math.max(...devices.map((device) => device.blockedUntilMs));
  const still = devices.find((each) => each !== snapshot.device && each.paused);
  if (still !== undefined) {
    return { code: "paused", words: `waits for ${still.device}, which is paused by an operator`, untilMs: null };
  }
  const busy = devices.find((each) => each !== snapshot.device && each.transition !== null);
  if (!resident && busy !== undefined) return busyWith(busy);
  if (!resident && blockedUntilMs > nowMs) {
    return { code: "blocked", words: "the device has not given its memory back", untilMs: blockedUntilMs };
  }
  return null;
}

/** A model across several devices moves when none of them does anything else. */
function busyWith({ device }: DeviceView): Barrier {
  return { code: "busy", words: `waits for ${device}, which is loading or unloading`, untilMs: null };
}

/**
 * On a device that holds several, what only a pinned model's place would make room for is out of the question, so that
 * it does not stand in the way of what fits. On one that holds one at a time a pin holds everything back alike.
 */
function barredByVictims(each: Candidate, { device, partners = [] }: Snapshot): Candidate {
  if (!each.eligible) return each;
  const busy = partners.find(
    (partner) => partner.transition !== null && each.victims.some(({ across }) => across?.includes(partner.device)),
  );
  if (busy !== undefined) return { ...each, eligible: false, barrier: busyWith(busy) };
  const pinned = each.victims.filter((victim) => victim.pinned);
  if (pinned.length === 0 || device.memoryGiB === null) return each;
  const are = pinned.length > 1 ? "are" : "is";
  const words = `does not fit beside ${listed(pinned.map(({ model }) => model))}, which ${are} pinned`;
  return { ...each, eligible: false, barrier: { code: "no_room", words, untilMs: null } };
}

/**
 * The model that has gone without the device for longest is first: since its oldest job came, or since it was last there.
 * Counting from the visit keeps two old backlogs from passing the device to each other while a third model waits.
 */
export function byUnvisited(a: Candidate, b: Candidate): number {
  const since = (each: Candidate): number => Math.max(each.oldest?.acceptedAtMs ?? 0, each.leftAtMs ?? 0);
  return since(a) - since(b) || byOldest(a, b);
}

export function longestUnvisited(candidates: readonly Candidate[]): Candidate | null {
  return firstBy(candidates, byUnvisited);
}

/** The earliest of these instants that lies after now; null when none does. */
export function earliestAfter(nowMs: number, instants: readonly (number | null)[]): number | null {
  let earliest: number | null = null;
  for (const each of instants) {
    if (each !== null && each > nowMs && (earliest === null || each < earliest)) earliest = each;
  }
  return earliest;
}
