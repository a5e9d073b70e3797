// What the page knows of the router, put together from snapshots and deltas. An entry that did not change stays the same
// object, so that only what changed is drawn again.

import type { DecisionWire } from "../../../src/client/wire.ts";
import type { DeltaWire } from "../../../src/client/wire-live.ts";
import type { StatusWire } from "../../../src/client/wire-status.ts";
import { Cell } from "../cell.ts";
import { setZone } from "../parts/time.ts";

/** Newest first; enough for the feed, the rest is a page of its own. */
const DECISIONS_KEPT = 60;

/** Null until the router has spoken. */
export const status = new Cell<StatusWire | null>(null);
/** Newest first: those that came since, and the page that was read at the last snapshot. */
export const decisions = new Cell<readonly DecisionWire[]>([]);
/** Grows with every snapshot: what was read from other routes before is out of date. */
export const epoch = new Cell(0);

/** When an entry of the status was heard, by the router's clock: what counts along is counted from there. */
const heardMs = new WeakMap<object, number>();

const listeners = new Set<(delta: DeltaWire) => void>();

/** Told of every delta, after `status` and `decisions` have it. @returns what ends it. */
export function onDelta(listener: (delta: DeltaWire) => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** An age that the router sent with `entry`, as it is by now. Seconds in, milliseconds out. */
export function ageMs(entry: object, seconds: number, nowMs: number): number {
  return seconds * 1000 + Math.max(0, nowMs - (heardMs.get(entry) ?? nowMs));
}

export function takeSnapshot(snapshot: StatusWire): void {
  hear(snapshot.at, [...snapshot.devices, ...snapshot.models, snapshot.totals]);
  setZone(snapshot.time_zone);
  status.set(snapshot);
  epoch.set(epoch.value + 1);
}

export function takeDelta(delta: DeltaWire): void {
  const before = status.value;
  if (before === null) return;
  hear(delta.at, [...delta.devices, ...delta.models, delta.status.totals]);
  status.set({
    ...before,
    ...delta.status,
    seq: delta.seq,
    at: delta.at,
    devices: replaced(before.devices, delta.devices),
    models: replaced(before.models, delta.models),
  });
  if (delta.decisions.length > 0) addDecisions(delta.decisions);
  for (const listener of [...listeners]) listener(delta);
}

function hear(at: number, entries: readonly object[]): void {
  for (const entry of entries) heardMs.set(entry, at * 1000);
}

/** Whole entries put in place by their ids; unknown ones are added. An unchanged list stays the same object. */
export function replaced<T extends { readonly id: string }>(list: readonly T[], changed: readonly T[]): readonly T[] {
  if (changed.length === 0) return list;
  const byId = new Map(changed.map((entry) => [entry.id, entry]));
  const next = list.map((entry) => byId.get(entry.id) ?? entry);
  const known = new Set(list.map(({ id }) => id));
  return [...next, ...changed.filter(({ id }) => !known.has(id))];
}

/** Any order; one that is known already is replaced. */
export function addDecisions(more: readonly DecisionWire[]): void {
  const byId = new Map([...decisions.value, ...more].map((decision) => [decision.id, decision]));
  const sorted = [...byId.values()].sort((a, b) => b.at - a.at || (a.id < b.id ? 1 : -1));
  decisions.set(sorted.slice(0, DECISIONS_KEPT));
}
