// One run of a comparison: a workload under a policy with a seed.

/** Where a workload comes from: a name of the catalogue, or a trace file. */
export type Source =
  | { readonly kind: "named"; readonly name: string; readonly drawn: boolean }
  | { readonly kind: "file"; readonly name: string; readonly path: string };

/** Plain data: it goes to another thread. */
export interface Task {
  readonly source: Source;
  readonly policy: string;
  readonly seed: number;
  readonly tracesFolder: string;
}
