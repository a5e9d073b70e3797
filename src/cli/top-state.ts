// What `sir top` knows: the last status with each change since, the spans of the window, the newest decisions, some jobs.

import type { DecisionWire } from "../client/wire.ts";
import type { DeltaWire, JobRow, SpanRow } from "../client/wire-live.ts";
import type { DeviceStatusWire, ModelStatusWire, StatusWire } from "../client/wire-status.ts";

/** What the line of keys can select. */
export type Item =
  | { readonly kind: "model"; readonly model: string; readonly device: string | null }
  | { readonly kind: "job"; readonly id: string };

export interface TopState {
  status: StatusWire;
  /** Local clock, when `status.at` was true. */
  heardMs: number;
  spans: SpanRow[];
  /** Newest first. */
  decisions: DecisionWire[];
  jobs: readonly JobRow[];
  windowMs: number;
  selected: number;
  frozen: boolean;
  /** Why it is not live; null: it is. */
  lost: string | null;
  /** A question, or the outcome of an act. */
  message: string | null;
  /** Only this device. */
  readonly only: string | null;
}

export const WINDOWS_MS = [10, 30, 60, 180, 360, 720, 1_440].map((minutes) => minutes * 60_000);
const HOUR_MS = 3_600_000;
const DECISIONS_KEPT = 100;
const SPANS_KEPT = 4_000;

export function topState(status: StatusWire, nowMs: number, only: string | null): TopState {
  return {
    ...{ status, heardMs: nowMs, spans: [], decisions: [], jobs: [], windowMs: HOUR_MS, selected: 0 },
    ...{ frozen: false, lost: null, message: null, only },
  };
}

/** The server's clock now, in Unix ms. */
export function serverMs(state: TopState, nowMs: number): number {
  return state.status.at * 1_000 + Math.max(0, nowMs - state.heardMs);
}

export function applyDelta(state: TopState, delta: DeltaWire, nowMs: number): void {
  const { status, devices, models, spans, decisions } = delta;
  state.status = {
    ...state.status,
    ...status,
    seq: delta.seq,
    at: delta.at,
    devices: replaced(state.status.devices, devices),
    models: replaced(state.status.models, models),
  };
  state.heardMs = nowMs;
  for (const span of spans) addSpan(state, span);
  takeDecisions(state, decisions);
}

/** Whole entries in place of those with their ids. */
function replaced<T extends { readonly id: string }>(all: readonly T[], fresh: readonly T[]): readonly T[] {
  if (fresh.length === 0) return all;
  const byId = new Map(fresh.map((each) => [each.id, each]));
  return all.map((each) => byId.get(each.id) ?? each);
}

/** A span that has ended takes the place of itself while it went on. */
function addSpan(state: TopState, span: SpanRow): void {
  const [device, model, , from] = span;
  const at = state.spans.findIndex((each) => each[0] === device && each[1] === model && each[3] === from);
  if (at >= 0) state.spans[at] = span;
  else state.spans.push(span);
  if (state.spans.length > SPANS_KEPT) state.spans.splice(0, state.spans.length - SPANS_KEPT);
}

export function takeDecisions(state: TopState, fresh: readonly DecisionWire[]): void {
  const all = new Map([...state.decisions, ...fresh].map((each) => [each.id, each]));
  state.decisions = [...all.values()].sort((a, b) => (a.id < b.id ? 1 : -1)).slice(0, DECISIONS_KEPT);
}

export function shownDevices({ status, only }: TopState): readonly DeviceStatusWire[] {
  return only === null ? status.devices : status.devices.filter(({ id }) => id === only);
}

/** The lanes of a device: what is on it, was on it in the window, or waits for it. */
export function lanesOf(state: TopState, device: DeviceStatusWire, nowMs: number): readonly ModelStatusWire[] {
  const since = serverMs(state, nowMs) - state.windowMs;
  const seen = new Set(
    state.spans.filter(([on, , , , to]) => on === device.id && (to === null || to > since)).map(([, model]) => model),
  );
  const single = state.status.devices.length === 1;
  return state.status.models.filter((model) => {
    const on = model.devices.includes(device.id) || model.device === device.id || device.models.includes(model.id);
    const waits = waitingOf(model) > 0 && (model.waiting?.device ?? device.id) === device.id;
    return on || seen.has(model.id) || waits || (single && model.driver !== "remote");
  });
}

export function waitingOf({ queued }: ModelStatusWire): number {
  return queued.interactive + queued.normal + queued.batch;
}

/** In the order in which they are drawn. */
export function itemsOf(state: TopState, nowMs: number): Item[] {
  const models = shownDevices(state).flatMap((device) =>
    lanesOf(state, device, nowMs).map((model): Item => ({ kind: "model", model: model.id, device: device.id })),
  );
  return [...models, ...state.jobs.map(({ id }): Item => ({ kind: "job", id }))];
}
