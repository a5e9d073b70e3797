// What each model did on one device, as stretches: written down when it changes, never per job. A pause between two jobs
// that is shorter than the grain is no stretch, so the rows of a day are bounded however many jobs there were. Two grains
// are kept: a second, for hours, and a minute, for days.

import type { Change, Grain, Span, SpanPhase } from "../domain/change.ts";
import type { Clock, Timer } from "../domain/clock.ts";
import type { DecisionId, DeviceId, ModelName } from "../domain/ids.ts";
import type { LogEntry } from "../domain/journal.ts";
import type { ActiveMove } from "./move.ts";
import type { Residency } from "./state.ts";

const PAUSE_MS: Readonly<Record<Grain, number>> = { fine: 1_000, coarse: 60_000 };
/** What has ended lately may not be on the disk yet. */
const RECENT_MS = 5_000;
const RECENT_MAX = 200;

export interface SpanParts {
  readonly clock: Clock;
  readonly device: DeviceId;
  append(entry: LogEntry): void;
  changed(change: Change): void;
}

interface Doing {
  readonly phase: SpanPhase;
  readonly decision: DecisionId | null;
}

interface Lane {
  open: Span;
  /** It serves, and nothing has run on it since; too short yet to be said. */
  quietSinceMs: number | null;
}

/** Both grains of one device. */
export class DeviceSpans {
  readonly #tracks: Readonly<Record<Grain, SpanTrack>>;

  constructor(parts: SpanParts) {
    this.#tracks = { fine: new SpanTrack("fine", parts), coarse: new SpanTrack("coarse", parts) };
  }

  /** Called whenever what the device does may have changed. */
  look(residents: readonly Residency[], moves: readonly ActiveMove[]): void {
    const doing = doingOf(residents, moves);
    for (const track of Object.values(this.#tracks)) track.look(doing);
  }

  /** The load that is under way has failed: that is what its stretch was. */
  loadFailed(model: ModelName): void {
    for (const track of Object.values(this.#tracks)) track.loadFailed(model);
  }

  /** Those that go on, and those that ended a moment ago. */
  latest(grain: Grain): Span[] {
    return this.#tracks[grain].latest();
  }
}

class SpanTrack {
  readonly #grain: Grain;
  readonly #parts: SpanParts;
  readonly #lanes = new Map<ModelName, Lane>();
  #recent: Span[] = [];
  #timer: Timer | null = null;

  constructor(grain: Grain, parts: SpanParts) {
    this.#grain = grain;
    this.#parts = parts;
  }

  look(doing: ReadonlyMap<ModelName, Doing>): void {
    const nowMs = this.#parts.clock.nowMs();
    for (const [model, lane] of this.#lanes) {
      const next = doing.get(model);
      if (next === undefined) this.#end(model, lane, nowMs);
      else this.#go(model, lane, next, nowMs);
    }
    for (const [model, next] of doing) if (!this.#lanes.has(model)) this.#begin(model, next, nowMs);
  }

  loadFailed(model: ModelName): void {
    const lane = this.#lanes.get(model);
    if (lane?.open.phase === "loading") lane.open = { ...lane.open, phase: "failed" };
  }

  latest(): Span[] {
    const sinceMs = this.#parts.clock.nowMs() - RECENT_MS;
    return [
      ...this.#recent.filter(({ toMs }) => (toMs ?? 0) >= sinceMs),
      ...[...this.#lanes.values()].map((lane) => lane.open),
    ];
  }

  #go(model: ModelName, lane: Lane, next: Doing, nowMs: number): void {
    this.#sayPause(model, lane, nowMs);
    const current = this.#lanes.get(model) ?? lane;
    const { phase, decision } = current.open;
    if (phase === "serving" && next.phase === "idle") {
      current.quietSinceMs ??= nowMs;
      this.#arm(current.quietSinceMs + PAUSE_MS[this.#grain]);
      return;
    }
    current.quietSinceMs = null;
    if (phase === next.phase && decision === next.decision) return;
    if (phase === "failed" && next.phase === "loading") return;
    this.#close(current, nowMs);
    this.#begin(model, next, nowMs);
  }

  /** It has paused for long enough: its service ended when the pause began. */
  #sayPause(model: ModelName, lane: Lane, nowMs: number): void {
    const { quietSinceMs } = lane;
    if (quietSinceMs === null || nowMs - quietSinceMs < PAUSE_MS[this.#grain]) return;
    this.#close(lane, quietSinceMs);
    this.#begin(model, { phase: "idle", decision: null }, quietSinceMs);
  }

  #end(model: ModelName, lane: Lane, nowMs: number): void {
    this.#sayPause(model, lane, nowMs);
    this.#close(this.#lanes.get(model) ?? lane, nowMs);
    this.#lanes.delete(model);
  }

  #begin(model: ModelName, { phase, decision }: Doing, fromMs: number): void {
    const { device } = this.#parts;
    const open: Span = { device, model, phase, fromMs, toMs: null, decision };
    this.#lanes.set(model, { open, quietSinceMs: null });
    this.#tell(open);
  }

  #close(lane: Lane, toMs: number): void {
    const closed: Span = { ...lane.open, toMs };
    if (toMs > closed.fromMs) this.#recent.push(closed);
    const sinceMs = this.#parts.clock.nowMs() - RECENT_MS;
    if (this.#recent.length > RECENT_MAX || (this.#recent[0]?.toMs ?? 0) < sinceMs) {
      this.#recent = this.#recent.filter((each) => (each.toMs ?? 0) >= sinceMs).slice(-RECENT_MAX);
    }
    this.#tell(closed);
  }

  #tell(span: Span): void {
    this.#parts.append({ type: "span", grain: this.#grain, span });
    if (this.#grain === "fine") this.#parts.changed({ type: "span", span });
  }

  /** Only pauses need a clock: everything else is heard of. */
  #arm(atMs: number): void {
    if (this.#timer !== null) return;
    this.#timer = this.#parts.clock.at(atMs, () => {
      this.#timer = null;
      const nowMs = this.#parts.clock.nowMs();
      for (const [model, lane] of this.#lanes) this.#sayPause(model, lane, nowMs);
      const next = Math.min(...[...this.#lanes.values()].map((lane) => lane.quietSinceMs ?? Number.POSITIVE_INFINITY));
      if (Number.isFinite(next)) this.#arm(next + PAUSE_MS[this.#grain]);
    });
  }
}

function doingOf(residents: readonly Residency[], moves: readonly ActiveMove[]): Map<ModelName, Doing> {
  const doing = new Map<ModelName, Doing>();
  for (const { load, phase, decision } of moves) {
    if (load !== null && phase === "loading") doing.set(load, { phase, decision });
  }
  for (const resident of residents) {
    const exit = resident.leaving ? moves.find(({ leaving }) => leaving.includes(resident)) : undefined;
    const phase = exit === undefined ? (resident.running.size > 0 ? "serving" : "idle") : exitPhase(exit);
    doing.set(resident.instance.model, { phase, decision: exit?.decision ?? null });
  }
  return doing;
}

const exitPhase = ({ phase }: ActiveMove): SpanPhase => (phase === "draining" ? "draining" : "unloading");
