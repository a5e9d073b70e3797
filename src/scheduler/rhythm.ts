// When a model's work will begin next, learned from when it began before: a steady interval (cron), or the same time of
// day. Every prediction is scored, whether or not anything is loaded for it. No clock: instants are given.

import { TrackRecord } from "./track-record.ts";

const DAY_MS = 86_400_000;
/** Three gaps are one interval when they differ by less than this and this share of their median. */
const SPREAD_MS = 20_000;
const SPREAD_SHARE = 0.04;
/** How far from a time of day a start still belongs to it. */
const NEAR_MS = 90_000;
const DAYS_BACK = 7;
const LEAST_DAYS = 2;
/** Of the days looked at: below it, chance alone brings starts of a busy model together. */
const LEAST_SHARE = 0.7;
const STARTS_KEPT = 64;
const DAILY_KEPT = 4;

export interface Prediction {
  readonly source: "cron" | "daily";
  readonly dueAtMs: number;
  /** It was right when a session begins within so much of it. */
  readonly toleranceMs: number;
  /** As far as the starts alone tell. */
  readonly probability: number;
}

export interface Settled {
  readonly source: Prediction["source"];
  readonly right: boolean;
}

/** The next start if the last three gaps are one interval. @param starts oldest first */
export function cronPrediction(starts: readonly number[]): Prediction | null {
  const last = starts.slice(-4);
  const [a, b, c, d] = last;
  if (a === undefined || b === undefined || c === undefined || d === undefined) return null;
  const [least = 0, median = 0, most = 0] = [b - a, c - b, d - c].toSorted((x, y) => x - y);
  const spreadMs = SPREAD_SHARE * median + SPREAD_MS;
  if (most - least >= spreadMs) return null;
  return { source: "cron", dueAtMs: d + median, toleranceMs: spreadMs, probability: 0.85 };
}

/** The next times of day at which sessions began on at least two of the last seven days, soonest first. */
export function dailyPredictions(starts: readonly number[], nowMs: number): Prediction[] {
  const recent = starts.filter((each) => each > nowMs - (DAYS_BACK + 1) * DAY_MS);
  const first = recent[0];
  if (first === undefined) return [];
  const found = recent
    .map((each) => dailyAround(recent, first, nextOf(each, nowMs)))
    .filter((each) => each !== null)
    .toSorted((a, b) => b.probability - a.probability || a.dueAtMs - b.dueAtMs);
  const apart: Prediction[] = [];
  for (const each of found) if (!apart.some((kept) => isSame(kept, each))) apart.push(each);
  return apart.toSorted((a, b) => a.dueAtMs - b.dueAtMs).slice(0, DAILY_KEPT);
}

/** The first day's return of an instant that is not over. */
function nextOf(atMs: number, nowMs: number): number {
  return atMs + DAY_MS * Math.max(1, Math.ceil((nowMs - NEAR_MS - atMs) / DAY_MS));
}

function dailyAround(starts: readonly number[], first: number, roughMs: number): Prediction | null {
  const offsets: number[] = [];
  let days = 0;
  for (let back = 1; back <= DAYS_BACK && roughMs - back * DAY_MS >= first - NEAR_MS; back++) {
    days = back;
    const thatDay = roughMs - back * DAY_MS;
    const near = starts.find((each) => Math.abs(each - thatDay) <= NEAR_MS);
    if (near !== undefined) offsets.push(near - thatDay);
  }
  if (offsets.length < LEAST_DAYS || offsets.length < LEAST_SHARE * days) return null;
  const middle = offsets.toSorted((a, b) => a - b)[Math.floor((offsets.length - 1) / 2)] ?? 0;
  const probability = Math.min(0.9, offsets.length / (days + 0.5));
  return { source: "daily", dueAtMs: roughMs + middle, toleranceMs: NEAR_MS, probability };
}

const isSame = (a: Prediction, b: Prediction): boolean => Math.abs(a.dueAtMs - b.dueAtMs) <= 2 * NEAR_MS;

/** One model's starts, what they predict, and how right that was. Bounded. */
export class Rhythm {
  readonly records: Readonly<Record<Prediction["source"], TrackRecord>> = {
    cron: new TrackRecord(),
    daily: new TrackRecord(),
  };
  readonly #starts: number[] = [];
  #cron: Prediction | null = null;
  #daily: Prediction[] = [];

  /** A session began, later than every one before. */
  started(atMs: number): Settled[] {
    const missed = this.passed(atMs);
    const met = this.#daily.filter((each) => isRight(each, atMs));
    const settled: Settled[] = met.map(({ source }) => ({ source, right: true }));
    if (this.#cron !== null) settled.push({ source: "cron", right: isRight(this.#cron, atMs) });
    for (const { source, right } of settled) this.records[source].note(right);
    this.#starts.push(atMs);
    if (this.#starts.length > STARTS_KEPT) this.#starts.shift();
    this.#cron = cronPrediction(this.#starts);
    this.#daily = this.#daily.filter((each) => !met.includes(each));
    this.#findDaily(atMs);
    return [...missed, ...settled];
  }

  /** What did not come in time was wrong. */
  passed(nowMs: number): Settled[] {
    const over = (each: Prediction): boolean => each.dueAtMs + each.toleranceMs < nowMs;
    const wrong = [...(this.#cron === null ? [] : [this.#cron]), ...this.#daily].filter(over);
    if (wrong.length === 0) return [];
    for (const { source } of wrong) this.records[source].note(false);
    if (this.#cron !== null && over(this.#cron)) this.#cron = null;
    this.#daily = this.#daily.filter((each) => !over(each));
    this.#findDaily(nowMs);
    return wrong.map(({ source }) => ({ source, right: false }));
  }

  /** Not settled yet. Both may speak of one start: each has its own record. */
  get predictions(): readonly Prediction[] {
    return this.#cron === null ? this.#daily : [this.#cron, ...this.#daily];
  }

  #findDaily(nowMs: number): void {
    const last = this.#starts.at(-1) ?? Number.NEGATIVE_INFINITY;
    const fresh = dailyPredictions(this.#starts, nowMs).filter(
      (each) => each.dueAtMs - last > 2 * NEAR_MS && !this.#daily.some((known) => isSame(known, each)),
    );
    this.#daily = [...this.#daily, ...fresh].toSorted((a, b) => a.dueAtMs - b.dueAtMs).slice(0, DAILY_KEPT);
  }
}

function isRight({ dueAtMs, toleranceMs }: Prediction, atMs: number): boolean {
  return Math.abs(atMs - dueAtMs) <= toleranceMs;
}
