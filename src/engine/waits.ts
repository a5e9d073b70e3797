// Why each model's queue waits, written down whenever that changes: O(models) a pass. A job's own wait is cut from these
// stretches when somebody asks.

import type { DecisionId, DeviceId, ModelName } from "../domain/ids.ts";
import type { LogEntry } from "../domain/journal.ts";
import type { Pause } from "../domain/pause.ts";
import type { HoldRule, QueueCause, Wait, WaitDetail } from "../domain/wait.ts";
import type { DeviceUnit } from "./device.ts";
import { type EngineWorld, type ModelEntry, type Residency, slotsFree } from "./state.ts";

export interface DeviceHold {
  readonly unit: DeviceUnit;
  readonly rule: HoldRule;
  readonly decision: DecisionId | null;
  /** For each model that waits, those that would have to go for it. */
  readonly against: ReadonlyMap<ModelName, readonly ModelName[]>;
  /** The loaded models whose jobs may be started now. */
  readonly serves: readonly ModelName[];
}

interface Because {
  readonly cause: QueueCause;
  readonly rule: HoldRule | null;
  readonly by: ModelName | null;
  readonly device: DeviceId | null;
  readonly decision: DecisionId | null;
  readonly detail?: WaitDetail;
}

/**
 * Opens, keeps or closes each model's stretch as of now.
 * @param idleSinceMs Since when the router starts nothing yet, or nothing more; null: it does. A queue that comes back from
 * the store has waited for that since then.
 */
export function recordWaits(world: EngineWorld, idleSinceMs: number | null, holds: readonly DeviceHold[]): void {
  const nowMs = world.clock.nowMs();
  const idle = idleSinceMs !== null;
  const entries: LogEntry[] = [];
  for (const entry of world.models.values()) {
    const because = entry.queue.size === 0 ? null : becauseOf(entry, { world, idle, holds, nowMs });
    const open = entry.wait;
    entry.waited.sample(because?.cause ?? null, entry.queue.size, nowMs);
    if (open !== null && because !== null && sameBecause(open, because)) continue;
    if (open !== null) entries.push({ type: "wait.close", model: entry.spec.name, toMs: nowMs });
    const fromMs = open === null && because?.cause === "router_down" ? (idleSinceMs ?? nowMs) : nowMs;
    entry.wait = because === null ? null : { model: entry.spec.name, ...because, fromMs, toMs: null };
    if (entry.wait !== null) entries.push({ type: "wait.open", wait: entry.wait });
  }
  if (entries.length > 0) world.store.append(entries);
}

function sameBecause(open: Wait, because: Because): boolean {
  return (
    open.cause === because.cause &&
    open.rule === because.rule &&
    open.by === because.by &&
    open.device === because.device &&
    open.decision === because.decision &&
    open.detail?.who === because.detail?.who &&
    open.detail?.note === because.detail?.note &&
    open.detail?.error === because.detail?.error
  );
}

interface Situation {
  readonly world: EngineWorld;
  readonly idle: boolean;
  readonly holds: readonly DeviceHold[];
  readonly nowMs: number;
}

function pausedBy(pause: Pause | null): Because {
  const detail: WaitDetail =
    pause === null ? { scope: "device" } : { scope: pause.scope, who: pause.who, note: pause.note };
  const device = pause?.scope === "device" ? (pause.subject as DeviceId) : null;
  return { cause: "paused", rule: null, by: null, device, decision: null, detail };
}

/** The most advanced device counts: one where it is resident, then one it is on its way to, then one that holds it back. */
function becauseOf(entry: ModelEntry, { world, idle, holds, nowMs }: Situation): Because {
  const plain = (cause: QueueCause): Because => ({ cause, rule: null, by: null, device: null, decision: null });
  const pause = world.pauses.over(entry.spec);
  if (idle) return plain("router_down");
  if (pause !== null) return pausedBy(pause);
  const { name } = entry.spec;
  if (entry.remote !== null) {
    if (entry.holdOffUntilMs > nowMs) return brokenUntil(entry.holdOffUntilMs, null, null);
    return plain(slotsFree(entry, entry.remote) > 0 ? "dispatch" : "own_queue");
  }
  const homes = holds.flatMap((hold) => {
    const residency = hold.unit.find(name);
    return residency === null || residency.leaving ? [] : [{ hold, unit: hold.unit, residency }];
  });
  const awake = homes.filter(({ unit }) => !unit.paused);
  const home = awake.find(({ residency }) => slotsFree(entry, residency) > 0) ?? awake[0];
  if (home !== undefined) return atHome(entry, home, nowMs);
  const coming = holds.find(({ unit }) => unit.move?.load === name);
  if (coming?.unit.move) {
    const { phase, evict, decision, leaving } = coming.unit.move;
    const by = phase === "loading" ? null : (evict[0] ?? null);
    const because = { cause: phase, rule: null, by, device: coming.unit.spec.id, decision };
    if (phase !== "draining") return because;
    return { ...because, detail: { running: leaving.reduce((sum, { running }) => sum + running.size, 0) } };
  }
  const { retryAtMs, lastError } = entry.breaker;
  if (retryAtMs > nowMs) return brokenUntil(retryAtMs, lastError, null);
  if (homes[0] !== undefined) return pausedBy(world.pauses.device(homes[0].unit.spec.id));
  const own = holds.filter(({ unit }) => entry.spec.devices.includes(unit.spec.id));
  const hold = own.find(({ unit }) => !unit.paused) ?? own[0];
  if (hold === undefined) return plain("dispatch");
  return { ...heldBack(entry, hold, world), device: hold.unit.spec.id };
}

/** Its last load failed, or its engine was lost or busy (`error` null). */
function brokenUntil(retryAtMs: number, error: string | null, device: DeviceId | null): Because {
  const detail = { retryAtMs, ...(error === null ? {} : { error }) };
  return { cause: "model_broken", rule: null, by: null, device, decision: null, detail };
}

interface Home {
  readonly hold: DeviceHold;
  readonly residency: Residency;
}

function atHome(entry: ModelEntry, { hold, residency }: Home, nowMs: number): Because {
  const device = hold.unit.spec.id;
  const at = (cause: QueueCause): Because => ({ cause, rule: null, by: null, device, decision: null });
  if (entry.holdOffUntilMs > nowMs) return brokenUntil(entry.holdOffUntilMs, null, device);
  if (slotsFree(entry, residency) <= 0) return at("own_queue");
  const { name } = entry.spec;
  if (hold.serves.includes(name)) return at("dispatch");
  // The policy serves one model, or one job, after the other.
  const busy = hold.unit.residents.find(({ instance, running }) => instance.model !== name && running.size > 0);
  const by = hold.serves[0] ?? busy?.instance.model ?? null;
  return by === null ? at("own_queue") : { cause: "held", rule: "order", by, device, decision: hold.decision };
}

function heldBack(entry: ModelEntry, hold: DeviceHold, { models }: EngineWorld): Omit<Because, "device"> {
  const { move, residents } = hold.unit;
  const { name } = entry.spec;
  if (move !== null) {
    const { load, evict, decision, phase, askedBy } = move;
    // Nobody decided that: a lost engine is cleared away.
    if (decision === null) return { cause: phase, rule: null, by: evict[0] ?? load, decision };
    const rule = evict.includes(name) ? "own_move" : "switching_other";
    // A model that goes and makes room for none is held by nobody.
    const by = load ?? (rule === "own_move" ? null : (evict[0] ?? null));
    const detail = {
      ...askedFor(askedBy ?? null).detail,
      ...(load === null && by !== null ? { goes: true as const } : {}),
    };
    return { cause: "held", rule, by, decision, ...(Object.keys(detail).length === 0 ? {} : { detail }) };
  }
  const by = hold.against.get(name)?.[0] ?? residents[0]?.instance.model ?? null;
  const pinnedBy = hold.rule === "pinned" && by !== null ? models.get(by)?.pinnedBy : null;
  return { cause: "held", rule: hold.rule, by, decision: hold.decision, ...askedFor(pinnedBy ?? null) };
}

function askedFor(who: string | null): { readonly detail?: WaitDetail } {
  return who === null ? {} : { detail: { who } };
}
