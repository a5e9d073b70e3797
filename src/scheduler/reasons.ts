// Why decisions are made, a line for each reason: what pages of reference are written from. The sentences with the
// numbers of one decision are in explain.ts.

import type { DecisionKind, DecisionReason, Guard } from "../domain/decision.ts";

export interface ReasonWords {
  /** As what it can occur. */
  readonly kinds: readonly DecisionKind[];
  readonly meaning: string;
}

const STAYS: readonly DecisionKind[] = ["hold", "idle"];

export const REASON_WORDS: Readonly<Record<DecisionReason, ReasonWords>> = {
  cold: { kinds: ["load"], meaning: "Nothing was loaded; this is what the policy prefers of what waits." },
  fits: { kinds: ["load"], meaning: "It fits beside what is loaded, so nobody had to be asked." },
  challenger_wins: {
    kinds: ["swap"],
    meaning: "model-score, serial: its score overtook that of what was loaded.",
  },
  resident_idle: {
    kinds: ["swap"],
    meaning: "What was loaded had no work and had idled for what the swap is worth.",
  },
  resident_unavailable: { kinds: ["swap"], meaning: "What was loaded is paused or broken and could not be served." },
  ceiling: {
    kinds: ["swap", "load"],
    meaning: "Its oldest job had waited for `maxWaitSeconds`, which overrules scores.",
  },
  longest_queue: {
    kinds: ["swap"],
    meaning: "longest: its queue was the longest when the loaded one's ran dry.",
  },
  arrival_order: {
    kinds: ["swap", ...STAYS],
    meaning: "fifo: the job that is next in order is its own, whether it comes or stays.",
  },
  free: {
    kinds: ["swap"],
    meaning: "stint: what was loaded had nothing queued, and waiting for its next job cost too much.",
  },
  worth: {
    kinds: ["swap"],
    meaning: "stint: the swap saves more waiting than its loads cost, and the budget pays for it.",
  },
  visit: {
    kinds: ["swap"],
    meaning: "stint: it had gone unvisited for as long as any model may (`visitSeconds`).",
  },
  deadline: { kinds: ["swap"], meaning: "stint: a job of it has a deadline that could only just be met." },
  restore: { kinds: ["load", "swap", "preload"], meaning: "It was evicted for a load that failed, and comes back." },
  keep_ready: {
    kinds: ["load", "preload"],
    meaning: "The configuration wants it ready (`preload: true`), and there was room.",
  },
  preload: {
    kinds: ["preload", "swap"],
    meaning: "Nobody waits for it yet, and it is expected to be needed soon enough to pay.",
  },
  pinned: {
    kinds: ["load", "swap", "preload", ...STAYS],
    meaning: "A pinned model was brought in; or stays, and what waits would need its place.",
  },
  operator: { kinds: ["swap", "load", "unload"], meaning: "An operator asked for it." },
  drain: {
    kinds: ["unload", ...STAYS],
    meaning: "An operator drained it: it is unloaded, and nothing of it starts until an operator loads it.",
  },
  pin: { kinds: STAYS, meaning: "An operator pinned it: nothing takes its place, and at rest it is loaded." },
  unpin: { kinds: STAYS, meaning: "An operator unpinned it: other models may take its place." },
  idle_timeout: { kinds: ["unload"], meaning: "It had no work for `unloadAfterSeconds`." },
  unwanted: { kinds: ["unload"], meaning: "Its load was given up: the jobs that it was for are gone." },
  yielded: { kinds: ["unload"], meaning: "Its load ahead of need was given up: work came for another model." },
  removed: { kinds: ["unload"], meaning: "It is no longer in the configuration." },
  no_work: { kinds: ["idle"], meaning: "Nothing waits." },
  serving: { kinds: ["hold"], meaning: "What is loaded is served, and nothing else waits." },
  resident_wins: { kinds: STAYS, meaning: "No other model's score pays for taking its place." },
  min_residency: { kinds: STAYS, meaning: "What is loaded has been so for less than `minResidencySeconds`." },
  serve_first: { kinds: STAYS, meaning: "What is loaded has work and has not started a job since its load." },
  forced_swap_spent: { kinds: STAYS, meaning: "The ceiling brought in what is loaded, and its turn is not over." },
  finish: { kinds: STAYS, meaning: "What is loaded finishes its work first." },
  not_worth: { kinds: STAYS, meaning: "stint: the swap would save less waiting than its loads cost." },
  budget: { kinds: STAYS, meaning: "stint: the swap would be worth it, and the budget for cutting in is spent." },
  likely_needed: { kinds: STAYS, meaning: "stint: what is loaded idles, and its next job usually comes soon." },
  quantum: {
    kinds: STAYS,
    meaning: "stint: another model is due for a visit, and the turn of what is loaded is not over.",
  },
  back_off: { kinds: STAYS, meaning: "What waits failed to load and is tried again later." },
  paused: { kinds: STAYS, meaning: "The router, the device or what waits is paused by an operator." },
  no_room: {
    kinds: STAYS,
    meaning: "What waits does not fit: the device is too small, or a pinned or busy model is in its place.",
  },
  loading: { kinds: ["hold"], meaning: "A model is being loaded." },
  draining: { kinds: ["hold"], meaning: "What has to go still runs jobs." },
  unloading: { kinds: ["hold"], meaning: "What has to go is stopping." },
  blocked: { kinds: STAYS, meaning: "A model would not stop or its memory did not come back; it is tried again." },
};

/** The hard rules above the scores. */
export const GUARD_WORDS: Readonly<Record<Guard, string>> = {
  ceiling: "A job had waited for `maxWaitSeconds`.",
  min_residency: "A model was loaded less than `minResidencySeconds` ago.",
  idle_lapse: "A model had idled for what the challenger's load is worth.",
  serve_first: "A model serves at least once before it may be swapped out (`serveBeforeSwap`).",
  forced_swap_spent: "A model that the ceiling brought in has its turn (`serveBeforeSwap`).",
  pinned: "A pinned model is never evicted.",
  back_off: "A model whose load failed is not loaded before its next try.",
  paused: "An operator paused it.",
  in_transition: "A move is under way, and goes on to its end.",
};
