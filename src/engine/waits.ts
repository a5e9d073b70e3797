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
 * @param closing The router goes down and starts nothing more.
 */
export function recordWaits(world: EngineWorld, closing: boolean, holds: readonly DeviceHold[]): void {
  const nowMs = world.clock.nowMs();
  const entries: LogEntry[] = [];
  for (const entry of world.models.values()) {
    const because = entry.queue.size === 0 ? null : becauseOf(entry, { world, closing, holds, nowMs });
    const open = entry.wait;
    entry.waited.sample(because?.cause ?? null, entry.queue.size, nowMs);
    if (open !== null && because !== null && sameBecause(open, because)) continue;
    if (open !== null) entries.push({ type: "wait.close", model: entry.spec.name, toMs: nowMs });
    entry.wait = because === null ? null : { model: entry.spec.name, ...because, fromMs: nowMs, toMs: null };
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
    open.detail?.note === because.detail?.note
  );
}

interface Situation {
  readonly world: EngineWorld;
  readonly closing: boolean;
  readonly holds: readonly DeviceHold[];
  readonly nowMs: number;
}

/** An operator's act, or the router's own end. */
function pausedBy(pause: Pause | null): Because {
  const detail: WaitDetail =
    pause === null
      ? { scope: "router", who: null, note: "the router was going down" }
      : { scope: pause.scope, who: pause.who, note: pause.note };
  const device = pause?.scope === "device" ? (pause.subject as DeviceId) : null;
  return { cause: "paused", rule: null, by: null, device, decision: null, detail };
}

/** The most advanced device counts: one where it is resident, then one it is on its way to, then one that holds it back. */
function becauseOf(entry: ModelEntry, { world, closing, holds, nowMs }: Situation): Because {
  const plain = (cause: QueueCause): Because => ({ cause, rule: null, by: null, device: null, decision: null });
  const pause = world.pauses.over(entry.spec);
  if (pause !== null || closing) return pausedBy(pause);
  const { name } = entry.spec;
  if (entry.remote !== null) {
    if (entry.holdOffUntilMs > nowMs) return plain("model_broken");
    return plain(slotsFree(entry, entry.remote) > 0 ? "dispatch" : "own_queue");
  }
  const homes = holds.flatMap(({ unit }) => {
    const residency = unit.find(name);
    return residency === null || residency.leaving ? [] : [{ unit, residency }];
  });
  const awake = homes.filter(({ unit }) => !unit.paused);
  const home = awake.find(({ residency }) => slotsFree(entry, residency) > 0) ?? awake[0];
  if (home !== undefined) return atHome(entry, home, nowMs);
  const coming = holds.find(({ unit }) => unit.move?.load === name);
  if (coming?.unit.move) {
    const { phase, evict, decision } = coming.unit.move;
    return { cause: phase, rule: null, by: evict[0] ?? null, device: coming.unit.spec.id, decision };
  }
  if (entry.breaker.retryAtMs > nowMs) return plain("model_broken");
  if (homes[0] !== undefined) return pausedBy(world.pauses.device(homes[0].unit.spec.id));
  const own = holds.filter(({ unit }) => entry.spec.devices.includes(unit.spec.id));
  const hold = own.find(({ unit }) => !unit.paused) ?? own[0];
  if (hold === undefined) return plain("dispatch");
  return { cause: "held", ...heldBack(entry, hold), device: hold.unit.spec.id };
}

function atHome(entry: ModelEntry, home: { unit: DeviceUnit; residency: Residency }, nowMs: number): Because {
  const device = home.unit.spec.id;
  const free = slotsFree(entry, home.residency) > 0;
  if (entry.holdOffUntilMs > nowMs) return { cause: "model_broken", rule: null, by: null, device, decision: null };
  return { cause: free ? "dispatch" : "own_queue", rule: null, by: null, device, decision: null };
}

function heldBack(entry: ModelEntry, hold: DeviceHold): Pick<Because, "rule" | "by" | "decision"> {
  const { move, residents } = hold.unit;
  const { name } = entry.spec;
  if (move !== null) {
    const rule = move.evict.includes(name) ? "own_move" : "switching_other";
    return { rule, by: move.load ?? move.evict[0] ?? null, decision: move.decision };
  }
  const by = hold.against.get(name)?.[0] ?? residents[0]?.instance.model ?? null;
  return { rule: hold.rule, by, decision: hold.decision };
}
