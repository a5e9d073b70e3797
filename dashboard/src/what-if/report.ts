// The document of `sir replay --json`, as far as the page reads it. A test holds it to the document's own type.

export interface Waits {
  readonly jobs: number;
  /** Never started. */
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
  readonly weightedMeanWaitSeconds: number;
  readonly swaps: number;
  readonly loads: number;
  /** 0 to 1. */
  readonly loadingShare: number;
  readonly deadlineMisses: number;
  readonly unserved: number;
}

export interface MovedJob {
  readonly id: string;
  readonly model: string;
  readonly band: "interactive" | "normal" | "batch";
  readonly beforeSeconds: number;
  readonly afterSeconds: number;
}

export interface Report {
  readonly from: string;
  readonly to: string;
  readonly jobs: number;
  /** That ran. */
  readonly policy: string;
  readonly fidelity: { readonly faithful: boolean; readonly sentence: string } | null;
  readonly notes: readonly string[];
  readonly accounts: readonly Account[];
  readonly others: readonly {
    readonly title: string;
    readonly against: string;
    readonly gained: number;
    readonly lost: number;
    readonly gainedMost: readonly MovedJob[];
    readonly lostMost: readonly MovedJob[];
  }[];
}

export interface Sides {
  /** With the settings that ran. */
  readonly before: Account;
  /** With the others; the same where none were tried. */
  readonly after: Account;
  readonly other: Report["others"][number] | null;
}

/** Null: the report holds no account at all. */
export function sidesOf({ accounts, others }: Report): Sides | null {
  const [other = null] = others;
  const find = (title: string): Account | undefined => accounts.find((account) => account.title === title);
  const before = (other === null ? find("replayed") : find(other.against)) ?? accounts[0];
  const after = other === null ? before : find(other.title);
  return before === undefined || after === undefined ? null : { before, after, other };
}
