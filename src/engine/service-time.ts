// How long a model's jobs run alone, and how much slower they are together: measured as work, not as latency, so that a
// full engine is not taken for a slow one.
//
// The work of a run needs the slowdown, and the slowdown can only be seen across many runs: if it is right, the work of a
// job does not depend on how many others were there when it began. (Over its whole run it would: long ones outlive their
// company.) So the driver's guess stands until the measurements clearly contradict it; then it is moved to what they say,
// and watched anew. Lengths are compared by their logarithms, so that a few very long jobs prove nothing.

import { fieldsIn, numberIn } from "./note.ts";

const WORK_WEIGHT = 0.1;
/** Where the driver knows nothing. */
const SLOWDOWN_GUESS = 0.06;
const SLOWDOWN_MAX = 4;
/** Of each run's weight in the regression, per later run: about the last five hundred count. */
const KEPT = 0.998;
/** It is asked each so many runs. */
const RUNS_BETWEEN_DOUBTS = 100;
const STANDARD_ERRORS = 4.5;

/** What a driver knows of its model before anything ran. */
export interface ServiceGuess {
  readonly aloneMs?: number;
  readonly slowdownPerJob?: number;
}

export class ServiceTime {
  #aloneMs: number | null;
  #slowdown: number;
  #sums = NO_SUMS;
  #runs = 0;
  /** Whether they are measured; else they are the driver's guess, which a later configuration may change. */
  #measured = { alone: false, slowdown: false };

  constructor({ aloneMs, slowdownPerJob }: ServiceGuess = {}) {
    this.#aloneMs = aloneMs ?? null;
    this.#slowdown = slowdownPerJob ?? SLOWDOWN_GUESS;
  }

  /** Moving average of the work of successful runs; the guess before the first, null when there is none. */
  get aloneMs(): number | null {
    return this.#aloneMs;
  }

  /** n jobs in flight each take 1 + this x (n - 1) times as long. */
  get slowdownPerJob(): number {
    return this.#slowdown;
  }

  /** @param company How many other jobs were in flight when it began. */
  ran(workMs: number, company: number): void {
    this.#aloneMs = this.#aloneMs === null ? workMs : this.#aloneMs + WORK_WEIGHT * (workMs - this.#aloneMs);
    this.#measured.alone = true;
    this.#runs++;
    if (workMs > 0) this.#sums = add(this.#sums, company, Math.log(workMs));
    const slope = this.#runs % RUNS_BETWEEN_DOUBTS === 0 ? slopeOf(this.#sums) : null;
    if (slope === null || Math.abs(slope.value) < STANDARD_ERRORS * slope.error) return;
    const moved = this.#slowdown + slope.value * (1 + this.#slowdown * slope.company) ** 2;
    this.#slowdown = Math.min(SLOWDOWN_MAX, Math.max(0, moved));
    this.#measured.slowdown = true;
    this.#sums = NO_SUMS;
    this.#runs = 0;
  }

  noted(): object {
    const [aloneMs, slowdown, runs] = [this.#aloneMs, this.#slowdown, this.#runs];
    return { aloneMs, slowdown, measured: this.#measured, runs, sums: this.#sums };
  }

  /** Evidence against a guess that is not the driver's any more is dropped. */
  recall(note: unknown): void {
    const { aloneMs, slowdown, measured, runs, sums } = fieldsIn(note);
    const { alone, slowdown: moved } = fieldsIn(measured);
    if (alone === true) {
      this.#aloneMs = numberIn(aloneMs) ?? this.#aloneMs;
      this.#measured.alone = true;
    }
    const value = numberIn(slowdown);
    if (value === null || (moved !== true && value !== this.#slowdown)) return;
    this.#slowdown = value;
    this.#measured.slowdown = moved === true;
    this.#runs = numberIn(runs) ?? 0;
    this.#sums = sumsIn(sums);
  }
}

/** Decayed sums of a regression of the logarithm of work on company. */
interface Sums {
  readonly n: number;
  readonly x: number;
  readonly y: number;
  readonly xx: number;
  readonly xy: number;
  readonly yy: number;
}

const NO_SUMS: Sums = { n: 0, x: 0, y: 0, xx: 0, xy: 0, yy: 0 };

function sumsIn(note: unknown): Sums {
  const fields = fieldsIn(note);
  const sum = (key: keyof Sums): number => numberIn(fields[key]) ?? 0;
  return { n: sum("n"), x: sum("x"), y: sum("y"), xx: sum("xx"), xy: sum("xy"), yy: sum("yy") };
}

function add(sums: Sums, x: number, y: number): Sums {
  return {
    n: sums.n * KEPT + 1,
    x: sums.x * KEPT + x,
    y: sums.y * KEPT + y,
    xx: sums.xx * KEPT + x * x,
    xy: sums.xy * KEPT + x * y,
    yy: sums.yy * KEPT + y * y,
  };
}

/** How the logarithm rises with company, its standard error, and the mean company; null while the runs had too similar. */
function slopeOf({ n, x, y, xx, xy, yy }: Sums): { value: number; error: number; company: number } | null {
  const company = x / n;
  const spread = xx / n - company ** 2;
  if (spread < 0.25) return null;
  const value = (xy / n - company * (y / n)) / spread;
  const left = Math.max(0, yy / n - (y / n) ** 2 - value ** 2 * spread);
  return { value, error: Math.sqrt(left / (Math.max(1, n - 2) * spread)), company };
}
