// The document of `sir replay --json`, which the router's own replays hold too: a command's document, so its keys are in
// camel case.

export interface ReplayReport {
  readonly object: "replay";
  readonly from: string;
  readonly to: string;
  readonly source: string;
  readonly jobs: number;
  readonly policy: string;
  readonly fidelity: Fidelity | null;
  readonly notes: readonly string[];
  /** What happened, what the settings that ran give again, and each other setting. */
  readonly accounts: readonly Account[];
  readonly others: readonly Other[];
  readonly charts: readonly string[];
}

export interface Other {
  readonly title: string;
  readonly policy: string;
  readonly set: Readonly<Record<string, unknown>>;
  /** What its waits are compared with: the replay of the settings that ran, else what was recorded. */
  readonly against: string;
  /** Jobs that wait at least a second less, and more. */
  readonly gained: number;
  readonly lost: number;
  readonly gainedMost: readonly Moved[];
  readonly lostMost: readonly Moved[];
}

/** Seconds; of jobs that started. */
export interface Waits {
  readonly jobs: number;
  /** Ended or were left without having started. */
  readonly unserved: number;
  readonly meanSeconds: number;
  readonly p50Seconds: number;
  readonly p99Seconds: number;
  readonly maxSeconds: number;
}

export interface Account {
  readonly title: string;
  readonly all: Waits;
  readonly bands: Readonly<Record<"interactive" | "normal" | "batch", Waits>>;
  readonly models: Readonly<Record<string, Waits>>;
  /** A waiting second weighs 10 for an interactive job, 1 for a normal one and 0.1 for batch. */
  readonly weightedMeanWaitSeconds: number;
  readonly swaps: number;
  readonly loads: number;
  /** Share of the devices' time that went into loads and unloads. */
  readonly loadingShare: number;
  /** Jobs with a deadline that did not end well before it. */
  readonly deadlineMisses: number;
  readonly unserved: number;
}

export interface Moved {
  readonly id: string;
  readonly model: string;
  readonly band: "interactive" | "normal" | "batch";
  readonly beforeSeconds: number;
  readonly afterSeconds: number;
}

export interface Fidelity {
  readonly recordedSwaps: number;
  readonly replayedSwaps: number;
  readonly recordedMeanWaitSeconds: number;
  readonly replayedMeanWaitSeconds: number;
  /** Of the two means; 0 is equal. */
  readonly meanError: number;
  /** Median over the jobs of how far their waits lie apart. */
  readonly medianErrorSeconds: number;
  /** Share of the jobs that started within a second of when they did. */
  readonly withinOneSecond: number;
  readonly faithful: boolean;
  readonly sentence: string;
}
