// What a run is given: models with their timing, and the jobs that arrive. Times count from the start of the run.

/** A model as the mock driver plays it. Durations in ms. */
export interface SimulatedModel {
  readonly name: string;
  /** The model's own weight in `model-score`. */
  readonly priority: number;
  readonly concurrency: number;
  readonly loadMs: number;
  readonly unloadMs: number;
  readonly firstTokenMs: number;
  readonly tokensPerSecond: number;
  /** n jobs in flight each run at 1/(1 + slowdownPerJob x (n - 1)). */
  readonly slowdownPerJob: number;
  /** What the engine is told before anything ran: how long one job takes alone. Measurements replace it. */
  readonly guessedWorkMs: number;
  /** Footprint while resident; null: a whole device. Counts where the workload names devices. */
  readonly memoryGiB: number | null;
}

export interface Arrival {
  readonly atMs: number;
  readonly model: string;
  /** The caller's priority: 100 interactive, 0 normal, -100 batch. */
  readonly priority: number;
  /** How many tokens it generates; with the model's timing this is its work. */
  readonly tokens: number;
  /** How long it runs alone, to the last digit, where whole tokens are too coarse; the timed engine goes by it. */
  readonly workMs?: number;
}

/** Makes arrivals out of what it sees; how an adversary, or a caller who waits for an answer, is played. */
export interface Reaction {
  /** Jobs that follow from a load that has just ended; `atMs` of none lies before now. */
  loaded(model: string, nowMs: number): readonly Arrival[];
}

export interface Workload {
  readonly name: string;
  /** Where the arrivals come from, in words. */
  readonly source: string;
  readonly models: readonly SimulatedModel[];
  /** In order of time; equal times in order of the list. */
  readonly arrivals: readonly Arrival[];
  /** A fresh one for each run; its arrivals come besides the others. */
  readonly react?: () => Reaction;
  /** Names and memory of the devices; absent: one device that holds one model at a time. */
  readonly devices?: readonly { readonly name: string; readonly memoryGiB: number }[];
  /** The run goes on until then even when nothing is left to do; null: it ends with the last job. */
  readonly untilMs: number | null;
}

const PLAIN: Omit<SimulatedModel, "name"> = {
  priority: 1,
  concurrency: 8,
  loadMs: 8_000,
  unloadMs: 500,
  firstTokenMs: 200,
  tokensPerSecond: 40,
  slowdownPerJob: 0,
  guessedWorkMs: 1_800,
  memoryGiB: null,
};

export function simulatedModel(name: string, facts: Partial<Omit<SimulatedModel, "name">> = {}): SimulatedModel {
  return { ...PLAIN, ...facts, name };
}

/** How long one job of so many tokens runs when it is alone. */
export function aloneMs(model: SimulatedModel, tokens: number): number {
  return model.firstTokenMs + (tokens / model.tokensPerSecond) * 1_000;
}

/** The whole number of tokens that takes about `workMs` alone; at least one. */
export function tokensFor(model: SimulatedModel, workMs: number): number {
  return Math.max(1, Math.round(((workMs - model.firstTokenMs) / 1_000) * model.tokensPerSecond));
}

/** A job of a given length alone, exact for the timed engine and in whole tokens for the mock driver. */
export function arrivalOf(model: SimulatedModel, atMs: number, priority: number, workMs: number): Arrival {
  return { atMs, model: model.name, priority, tokens: tokensFor(model, workMs), workMs };
}

/** How long the job runs alone. */
export function workMsOf(model: SimulatedModel, { tokens, workMs }: Arrival): number {
  return workMs ?? aloneMs(model, tokens);
}

/** Several streams as one, in order of time; ties keep the order in which the streams were given. */
export function merge(...streams: readonly (readonly Arrival[])[]): Arrival[] {
  return streams.flat().sort((a, b) => a.atMs - b.atMs);
}

/** The work that arrives as a share of the time it arrives in, with every model batching to its concurrency. */
export function offeredLoad(workload: Workload): number {
  const models = new Map(workload.models.map((model) => [model.name, model]));
  let workMs = 0;
  for (const arrival of workload.arrivals) {
    const model = models.get(arrival.model);
    if (model === undefined) continue;
    const n = model.concurrency;
    workMs += (workMsOf(model, arrival) * (1 + model.slowdownPerJob * (n - 1))) / n;
  }
  const first = workload.arrivals[0]?.atMs ?? 0;
  const last = workload.arrivals.at(-1)?.atMs ?? 0;
  return last > first ? workMs / (last - first) : 0;
}
