// What a test or a simulation can make a mock engine do wrong. Each function is asked at the event it is named for and
// answers null for "nothing"; it decides by itself (a seed, a counter), so that a run can be repeated.

import type { Instance, Placement } from "../backend.ts";

export type LoadFault =
  /** Fails after `afterMs` (default: the whole load), as an engine does that runs out of memory. */
  | {
      readonly kind: "fail";
      readonly afterMs?: number;
      readonly message?: string;
      readonly logTail?: readonly string[];
    }
  | { readonly kind: "slow"; readonly loadMs: number }
  /** Never becomes ready; ends only by its signal. */
  | { readonly kind: "hang" }
  /** Becomes ready, and its process dies so long after. */
  | { readonly kind: "die_later"; readonly afterMs: number };

export type RequestFault =
  /** Any status at all; 429, 503, 4xx, 5xx and 3xx are judged as a real engine's would be. */
  | {
      readonly kind: "status";
      readonly status: number;
      readonly body?: string;
      readonly contentType?: string;
      readonly retryAfterMs?: number;
      readonly afterMs?: number;
    }
  /** The engine's process dies after so many tokens, with everything in flight on it. */
  | { readonly kind: "die"; readonly afterTokens: number }
  /** This connection alone is cut after so many tokens; Infinity: before the last bytes. */
  | { readonly kind: "cut"; readonly afterTokens: number }
  /** The stream ends cleanly, but without its terminator. */
  | { readonly kind: "no_terminator" }
  /** HTTP 200 and then an error in the body or the stream. */
  | { readonly kind: "in_band_error"; readonly afterTokens: number }
  | { readonly kind: "garbage" }
  /** No further byte after so many tokens. */
  | { readonly kind: "hang"; readonly afterTokens: number; readonly ignoresAbort?: boolean }
  /** Answers well, but its socket stays open after an abort until the answer is complete. */
  | { readonly kind: "ignores_abort" }
  | { readonly kind: "slow"; readonly speed: number };

export type StopFault =
  /** Does not stop within the grace time: `stop` rejects and the model stays resident. */
  | { readonly kind: "ignores" }
  | { readonly kind: "slow"; readonly unloadMs: number }
  /** The process is gone, but nobody can say whether its memory is. */
  | { readonly kind: "unknown_memory" };

export interface MockFaults {
  /** `nth` counts this model's loads from 1. */
  load?(placement: Placement, nth: number): LoadFault | null;
  /** `nth` counts the requests since the load from 1. */
  request?(instance: Instance, nth: number, endpoint: string): RequestFault | null;
  stop?(instance: Instance): StopFault | null;
}

/** The counted faults of the configuration; undefined: never. */
export interface CountedFaults {
  /** The first n loads fail. */
  readonly failLoads: number;
  /** The first n requests are answered with 500. */
  readonly failRequests: number;
  /** After n requests since its load, the engine dies in the next one after two tokens. */
  readonly crashAfterRequests?: number | undefined;
  /** After n requests since its load, no further one is answered. */
  readonly hangAfterRequests?: number | undefined;
}

export function countedLoadFault(counts: CountedFaults, nth: number): LoadFault | null {
  return nth <= counts.failLoads ? { kind: "fail" } : null;
}

/** @param nth Since the load. @param total Since the backend was made. */
export function countedRequestFault(counts: CountedFaults, nth: number, total: number): RequestFault | null {
  if (total <= counts.failRequests) return { kind: "status", status: 500 };
  if (counts.hangAfterRequests !== undefined && nth > counts.hangAfterRequests) return { kind: "hang", afterTokens: 0 };
  if (counts.crashAfterRequests !== undefined && nth > counts.crashAfterRequests)
    return { kind: "die", afterTokens: 2 };
  return null;
}
