// A stay that lasts is one decision: how often it was confirmed, and the race meanwhile, sampled. In memory at each look;
// written at a sample and when it is over, so that a look costs no row and little time however often it comes.

import { type Decision, type Looks, type Sample, type Scored, TRAIL_MAX, type Verdict } from "../domain/decision.ts";
import type { ModelName } from "../domain/ids.ts";
import type { LogEntry } from "../domain/journal.ts";
import type { DeviceUnit } from "./device.ts";

/** At first; doubled each time that the trail is full and every other sample goes. */
const EVERY_MS = 30_000;
/** A change of order is a sample of its own, but not more often than this part of the time between samples. */
const ORDER_PART = 1 / 30;
/** Of a sample: what is loaded first, then the highest scores. */
const MODELS_MAX = 12;

interface Stay {
  readonly decision: Decision;
  times: number;
  lastAtMs: number;
  /** What the last look came to; null: there was one. */
  last: Verdict | null;
  trail: Sample[];
  everyMs: number;
  order: string;
  writtenTimes: number;
}

export class LookBook {
  readonly #append: (entries: readonly LogEntry[]) => void;
  readonly #stays = new Map<DeviceUnit, Stay>();

  constructor(append: (entries: readonly LogEntry[]) => void) {
    this.#append = append;
  }

  /** The first look that came to this. What the device did before is over. */
  began(device: DeviceUnit, decision: Decision): void {
    this.#close(device);
    this.#stays.set(device, {
      ...{ decision, times: 1, lastAtMs: decision.atMs, last: null, trail: [], everyMs: EVERY_MS, writtenTimes: 1 },
      order: orderOf(decision),
    });
  }

  /** The decision in force, as it was made. */
  inForce(device: DeviceUnit): Decision | null {
    return this.#stays.get(device)?.decision ?? null;
  }

  /** How often it was confirmed until now; null: there was one look. */
  of(device: DeviceUnit): Looks | null {
    const stay = this.#stays.get(device);
    return stay === undefined || stay.times === 1 ? null : looksOf(stay);
  }

  /** One more look that came to the same. */
  again(device: DeviceUnit, verdict: Verdict, nowMs: number): void {
    const stay = this.#stays.get(device);
    if (stay === undefined) return;
    stay.times++;
    stay.lastAtMs = nowMs;
    stay.last = verdict;
    if (stay.trail.length === 0) stay.trail.push(sampleOf(stay.decision, stay.decision.atMs));
    const sinceMs = nowMs - (stay.trail.at(-1)?.atMs ?? nowMs);
    const due = sinceMs >= stay.everyMs;
    if (!due && sinceMs < stay.everyMs * ORDER_PART) return;
    const order = orderOf(verdict);
    if (!due && order === stay.order) return;
    stay.order = order;
    stay.trail.push(sampleOf(verdict, nowMs));
    if (stay.trail.length > TRAIL_MAX) thin(stay);
    this.#write(stay);
  }

  /** Writes what is not written yet: the router goes down. */
  flush(): void {
    for (const device of [...this.#stays.keys()]) this.#close(device);
  }

  #close(device: DeviceUnit): void {
    const stay = this.#stays.get(device);
    if (stay !== undefined && stay.times > stay.writtenTimes) this.#write(stay);
  }

  #write(stay: Stay): void {
    stay.writtenTimes = stay.times;
    this.#append([{ type: "decision.looks", id: stay.decision.id, looks: looksOf(stay) }]);
  }
}

/** With the last look as the last sample, whether or not one was due. */
function looksOf({ times, lastAtMs, last, trail }: Stay): Looks {
  const isNews = last !== null && trail.at(-1)?.atMs !== lastAtMs;
  const all = isNews ? [...trail.slice(0, TRAIL_MAX - 1), sampleOf(last, lastAtMs)] : [...trail];
  return { times, lastAtMs, trail: all };
}

/** Every other sample goes, but the first and the last. */
function thin(stay: Stay): void {
  const { trail } = stay;
  stay.trail = trail.filter((_, i) => i % 2 === 0 || i === trail.length - 1);
  stay.everyMs *= 2;
}

function sampleOf(verdict: Verdict, atMs: number): Sample {
  const loaded = new Set(verdict.resident.map(({ model }) => model));
  const value = ({ model, score }: Scored): number =>
    loaded.has(model) ? Number.POSITIVE_INFINITY : (score ?? Number.NEGATIVE_INFINITY);
  const told = verdict.models
    .filter(({ model, depth }) => depth > 0 || loaded.has(model))
    .sort((a, b) => value(b) - value(a))
    .slice(0, MODELS_MAX);
  return { atMs, scores: Object.fromEntries(told.map(({ model, score }) => [model, rounded(score)])) };
}

/** Who leads of those that wait, who of those that are loaded, and which of the two is ahead. */
function orderOf(verdict: Verdict): string {
  let best: Scored | null = null;
  let here: Scored | null = null;
  for (const each of verdict.models) {
    if (each.score === null) continue;
    if (isLoaded(verdict, each.model)) {
      if (here === null || each.score > (here.score ?? 0)) here = each;
    } else if (each.depth > 0 && (best === null || each.score > (best.score ?? 0))) best = each;
  }
  const ahead = best !== null && here !== null && (best.score ?? 0) > (here.score ?? 0);
  return `${best?.model ?? ""}|${here?.model ?? ""}|${ahead}`;
}

function isLoaded({ resident }: Verdict, model: ModelName): boolean {
  return resident.some((each) => each.model === model);
}

function rounded(score: number | null): number | null {
  return score === null ? null : Math.round(score * 100) / 100;
}
