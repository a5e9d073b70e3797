// From when jobs ran to how long each would have run alone. n jobs in flight on one engine each run at
// 1 / (1 + slowdown x (n - 1)), so a run's work is the integral of that rate over its time. The slowdown itself is what
// makes work independent of company: where runs with more company seem to be more work, it is too small. Company is
// counted at a run's start; over its whole time it would depend on the work, since long runs outlive their company.

/** A stretch on one engine. */
export interface Run {
  readonly engine: string;
  readonly startedAtMs: number;
  readonly endedAtMs: number;
}

/** Where nothing is known: between the measured 0.04 and 0.15 of batching engines. */
export const SLOWDOWN_GUESS = 0.06;
const SLOWDOWN_MAX = 4;
const RUNS_BEFORE_DOUBT = 50;
const STANDARD_ERRORS = 3;
const HALVINGS = 12;

export interface Worked {
  /** One for each run, in the order given; above 0 where the run took any time. */
  readonly workMs: readonly number[];
  readonly slowdownPerJob: number;
  /** False: too few runs, or all with like company; the guess stands. */
  readonly measured: boolean;
}

/** @param runs Of one model. */
export function workAlone(runs: readonly Run[], guess = SLOWDOWN_GUESS): Worked {
  const company = companyAtStart(runs);
  const trendAt = (slowdown: number): Trend => trendOf(company, integrate(runs, slowdown));
  const atGuess = trendAt(guess);
  const measured = runs.length >= RUNS_BEFORE_DOUBT && Math.abs(atGuess.value) > STANDARD_ERRORS * atGuess.error;
  const slowdownPerJob = measured ? rootOf((slowdown) => trendAt(slowdown).value) : guess;
  return { workMs: integrate(runs, slowdownPerJob), slowdownPerJob, measured };
}

/** The slowdown at which work does not rise with company; the trend falls as the slowdown grows. */
function rootOf(trend: (slowdown: number) => number): number {
  let low = 0;
  let high = SLOWDOWN_MAX;
  if (trend(low) <= 0) return low;
  for (let i = 0; i < HALVINGS; i++) {
    const middle = (low + high) / 2;
    if (trend(middle) > 0) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

interface Step {
  readonly atMs: number;
  readonly run: number;
  readonly starts: boolean;
}

/** Starts and ends in order; at one instant ends come first, but never before the run's own start. */
function stepsOf(runs: readonly Run[]): Step[] {
  const steps = runs.flatMap(({ startedAtMs, endedAtMs }, run): Step[] => [
    { atMs: startedAtMs, run, starts: true },
    { atMs: Math.max(startedAtMs, endedAtMs), run, starts: false },
  ]);
  const instant = (step: Step): boolean => lengthOf(runs[step.run]) <= 0;
  return steps.sort(
    (a, b) =>
      a.atMs - b.atMs ||
      Number(instant(a)) - Number(instant(b)) ||
      Number(a.starts) - Number(b.starts) ||
      a.run - b.run,
  );
}

function lengthOf(run: Run | undefined): number {
  return run === undefined ? 0 : run.endedAtMs - run.startedAtMs;
}

interface Engine {
  inFlight: number;
  atMs: number;
  workMs: number;
}

/** The work of each run: what its engine gave to each of its jobs between start and end. O(runs log runs). */
function integrate(runs: readonly Run[], slowdown: number): number[] {
  const engines = new Map<string, Engine>();
  const begun: number[] = [];
  const workMs: number[] = [];
  for (const { atMs, run, starts } of stepsOf(runs)) {
    const name = runs[run]?.engine ?? "";
    const engine = engines.get(name) ?? { inFlight: 0, atMs, workMs: 0 };
    engines.set(name, engine);
    if (engine.inFlight > 0) engine.workMs += (atMs - engine.atMs) / (1 + slowdown * (engine.inFlight - 1));
    engine.atMs = atMs;
    engine.inFlight += starts ? 1 : -1;
    if (starts) begun[run] = engine.workMs;
    else workMs[run] = engine.workMs - (begun[run] ?? engine.workMs);
  }
  return workMs;
}

/** Other jobs in flight once everything that started at the run's own instant had started. */
function companyAtStart(runs: readonly Run[]): number[] {
  const company: number[] = [];
  const inFlight = new Map<string, number>();
  let together: number[] = [];
  let nowMs = Number.NEGATIVE_INFINITY;
  const note = (): void => {
    for (const run of together) company[run] = (inFlight.get(runs[run]?.engine ?? "") ?? 1) - 1;
    together = [];
  };
  for (const { atMs, run, starts } of stepsOf(runs)) {
    if (atMs > nowMs) note();
    nowMs = atMs;
    const name = runs[run]?.engine ?? "";
    inFlight.set(name, (inFlight.get(name) ?? 0) + (starts ? 1 : -1));
    if (starts) together.push(run);
  }
  note();
  return company;
}

interface Trend {
  readonly value: number;
  readonly error: number;
}

/** Covariance of work with company, and its standard error if there is none. */
function trendOf(company: readonly number[], workMs: readonly number[]): Trend {
  const n = Math.max(1, workMs.length);
  const meanOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / n;
  const companyMean = meanOf(company);
  const workMean = meanOf(workMs);
  const value = meanOf(workMs.map((work, i) => (work - workMean) * ((company[i] ?? 0) - companyMean)));
  const square = (values: readonly number[], mean: number): number => meanOf(values.map((each) => (each - mean) ** 2));
  return { value, error: Math.sqrt((square(company, companyMean) * square(workMs, workMean)) / n) };
}
