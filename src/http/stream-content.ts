// What frames of the live stream say: what differs from the frame before, found by comparing what `/v1/status` would say.
// Model names and counts are everybody's; jobs are shown to their caller and to those who may see all.

import type { LiveJobWire, MoveWire, SpanRow } from "../client/wire-live.ts";
import type { StatusWire } from "../client/wire-status.ts";
import { bandOf } from "../domain/band.ts";
import type { Span } from "../domain/change.ts";
import type { Decision } from "../domain/decision.ts";
import type { Job } from "../domain/job.ts";
import type { Changes, Scope } from "../live/changes.ts";
import type { Content } from "../live/hub.ts";
import { decisionWire, withoutOthers } from "./decision-wire.ts";
import type { HttpWorld } from "./deps.ts";
import { shownMs } from "./instants.ts";
import { shown } from "./receipt.ts";
import { statusWire, statusWithoutOthers } from "./status.ts";
import { toWire } from "./status-words.ts";

/** Changes all the time by itself: no reason for a frame. */
const DRIFTING = new Set([
  "at",
  "seq",
  "oldest_wait_seconds",
  "preload_left_seconds",
  "swap_share_1h",
  "burst",
  "seconds",
  "wait_p50_seconds",
  "wait_p95_seconds",
]);

/** What readers were told last of one thing. */
interface Told {
  /** Without what drifts. */
  readonly still: string;
  readonly whole: string;
}

export class StreamContent implements Content {
  readonly #world: () => HttpWorld;
  readonly #told = new Map<string, Told>();

  constructor(world: () => HttpWorld) {
    this.#world = world;
  }

  async snapshot(scope: Scope, seq: () => number): Promise<string> {
    const world = this.#world();
    const usage = await world.store.usage();
    const status = { ...statusWire(world, usage), seq: seq() };
    this.#compare(status);
    return JSON.stringify(scope === null ? status : statusWithoutOthers(status));
  }

  delta(changes: Changes, seq: number, drift: boolean): ((scope: Scope) => string) | null {
    const world = this.#world();
    const status = statusWire(world, { jobs: 0, storedBytes: 0, walBytes: 0 });
    const changed = new Set(
      entriesOf(status).flatMap(({ key, value }) => (this.#isNews(key, value, drift) ? [key] : [])),
    );
    const { spans, decisions, anyJob } = changes;
    if (changed.size === 0 && spans.length === 0 && decisions.length === 0 && !anyJob) return null;
    const rest = {
      spans: spans.map((span) => spanRow(world, span)),
      moves: decisions.flatMap((each) => moveWire(each) ?? []),
    };
    const wires = decisions.map(decisionWire);
    const part = (own: boolean): string => {
      const shown = own ? statusWithoutOthers(status) : status;
      const head = { seq, at: status.at, status: headOf(shown) };
      const devices = shown.devices.filter(({ id }) => changed.has(`device ${id}`));
      const models = shown.models.filter(({ id }) => changed.has(`model ${id}`));
      const decided = own ? wires.map(withoutOthers) : wires;
      return JSON.stringify({ ...head, devices, models, ...rest, decisions: decided }).slice(0, -1);
    };
    const parts = new Map<boolean, string>();
    return (scope) => {
      const own = scope !== null;
      const start = parts.get(own) ?? part(own);
      parts.set(own, start);
      const { jobs, more } = changes.jobs(scope);
      return `${start},"jobs":${JSON.stringify(jobs.map((job) => liveJob(job, own)))},"more":${more}}`;
    };
  }

  forget(): void {
    this.#told.clear();
  }

  /**
   * The first snapshot is what the next frame is compared with. What a later one shows ahead of the next frame may be undone
   * before that: it is told in any case.
   */
  #compare(status: StatusWire): void {
    const first = this.#told.size === 0;
    for (const { key, value } of entriesOf(status)) {
      if (first) this.#isNews(key, value, true);
      else if (this.#told.get(key)?.whole !== JSON.stringify(value)) this.#told.delete(key);
    }
  }

  #isNews(key: string, value: unknown, drift: boolean): boolean {
    const whole = JSON.stringify(value);
    const before = this.#told.get(key);
    if (before?.whole === whole) return false;
    const still = JSON.stringify(value, (name, each) => (DRIFTING.has(name) ? undefined : each));
    if (!drift && before?.still === still) return false;
    this.#told.set(key, { still, whole });
    return true;
  }
}

function headOf({ queued, running, paused, pause, draining, totals }: StatusWire) {
  return { queued, running, paused, pause, draining, totals };
}

function* pairs(status: StatusWire): Generator<{ key: string; value: unknown }> {
  yield { key: "status", value: headOf(status) };
  for (const device of status.devices) yield { key: `device ${device.id}`, value: device };
  for (const model of status.models) yield { key: `model ${model.id}`, value: model };
}

function entriesOf(status: StatusWire): { key: string; value: unknown }[] {
  return [...pairs(status)];
}

function liveJob(job: Job, own: boolean): LiveJobWire {
  const { state, spent } = job;
  return {
    id: job.id,
    status: toWire(state.status),
    model: job.model,
    created_at: Math.floor(job.createdAtMs / 1000),
    started_at: shown(job, "startedAtMs" in state ? state.startedAtMs : null),
    completed_at: shown(job, "finishedAtMs" in state ? state.finishedAtMs : null),
    band: bandOf(job.priority),
    caller: own ? null : job.caller,
    parts: spent === null ? null : spent.parts.map(({ cause, ms }) => [cause, ms]),
  };
}

export function spanRow(world: HttpWorld, { device, model, phase, fromMs, toMs, decision }: Span): SpanRow {
  return [device, model, phase, shownMs(world, fromMs), toMs === null ? null : shownMs(world, toMs), decision];
}

/** Null: it moved nothing. */
export function moveWire(decision: Decision): MoveWire | null {
  const { id, device, kind, reason, guard, load, evict, sentence } = decision;
  if (kind === "hold" || kind === "idle") return null;
  return {
    id,
    device,
    at_ms: Math.round(decision.wallMs),
    kind,
    reason,
    forced: guard === "ceiling",
    load,
    evict,
    sentence,
  };
}
