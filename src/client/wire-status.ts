// The JSON of the operators' routes, as types: status, readiness, logs.

import type { DecisionWire, ForecastWire, PreloadRecordWire } from "./wire.ts";

/** Who paused what, why, and since when (Unix seconds). */
export interface PauseWire {
  readonly scope: "router" | "device" | "model";
  /** The device or model; null of the router. */
  readonly subject: string | null;
  /** A key's name; `local` where there are no keys. */
  readonly who: string;
  readonly note: string | null;
  readonly since: number;
}

export interface WaitWire {
  readonly cause: string;
  readonly rule: string | null;
  readonly by: string | null;
  readonly device: string | null;
  readonly decision: string | null;
  readonly since: number;
}

export interface ModelStatusWire {
  readonly id: string;
  readonly label: string;
  readonly aliases: readonly string[];
  readonly state: string;
  readonly device: string | null;
  readonly devices: readonly string[];
  /** Every device it may be loaded on, or is loaded across; empty: it is always on elsewhere. */
  readonly homes: readonly string[];
  readonly memory_gib: number | null;
  readonly measured_gib: number | null;
  readonly since: number | null;
  readonly pinned: boolean;
  readonly paused: boolean;
  /** What keeps its jobs from starting: a pause of it, of what it needs, or of the router; null: none does. */
  readonly pause: PauseWire | null;
  readonly queued: { readonly interactive: number; readonly normal: number; readonly batch: number };
  readonly oldest_wait_seconds: number;
  readonly running: number;
  readonly concurrency: number;
  readonly load_seconds: number;
  readonly load_failures: number;
  readonly retry_at: number | null;
  readonly last_error: string | null;
  readonly waiting: WaitWire | null;
  readonly forecast: ForecastWire | null;
  readonly driver: string;
  /** Null: nothing waits for it. */
  readonly starts: StartsWire | null;
  readonly loads: LoadsWire;
  /** Of the jobs that began in the last hour; null: none did. */
  readonly wait_p50_seconds: number | null;
  readonly wait_p95_seconds: number | null;
}

/** What loads of a model took, against what was guessed. */
export interface LoadsWire {
  /** The configuration's. */
  readonly guess_seconds: number;
  readonly median_seconds: number | null;
  readonly p90_seconds: number | null;
  /** How many were measured. */
  readonly count: number;
  /** The newest fourteen that succeeded, oldest first, in seconds. */
  readonly last_seconds: readonly number[];
  /** The newest failures, newest first; five at most. */
  readonly failures: readonly { readonly at: number; readonly error: string }[];
}

/** One device in words: what it does and why. */
export interface DeviceSummaryWire {
  /** One to three sentences; quantities hold no-break spaces. */
  readonly text: string;
  /** How much of `text` says what it does; the rest says why. In UTF-16 units. */
  readonly what_length: number;
  readonly code: string;
  readonly decision: string | null;
}

/** What the device is expected to do next. Unix seconds; null where it is not known, and never guessed. */
export interface DeviceNextWire {
  readonly model: string;
  readonly low: number | null;
  readonly mid: number | null;
  readonly high: number | null;
  /** At the latest, by the policy's bound. */
  readonly bound: number | null;
  readonly text: string;
}

/** Counted in memory, since this router started or over the last hour. */
export interface TotalsWire {
  readonly waiting: number;
  readonly running: number;
  readonly done_1h: number;
  readonly failed_1h: number;
  /** Cancelled because nobody polled them before their lease ran out. */
  readonly lapsed_1h: number;
  /** Median of |actual - estimate| / actual over the last hour; null: too few. */
  readonly estimate_error_1h: number | null;
  readonly longest_wait: { readonly model: string; readonly seconds: number; readonly cause: string } | null;
}

/** When the first and the last of a model's waiting jobs are expected to start. Unix seconds. */
export interface StartsWire {
  readonly low: number | null;
  readonly mid: number | null;
  readonly high: number | null;
  readonly bound: number | null;
  readonly last: number | null;
}

export interface DeviceStatusWire {
  readonly id: string;
  readonly phase: string;
  readonly models: readonly string[];
  /** Null: not known, and one model at a time. */
  readonly memory_gib: number | null;
  /** By what is loaded or loading. */
  readonly claimed_gib: number | null;
  readonly since: number;
  readonly paused: boolean;
  /** Of it or of the router; null: neither is paused. */
  readonly pause: PauseWire | null;
  readonly decision: DecisionWire | null;
  /** Left of its budget for loads ahead of need; null: there are none. */
  readonly preload_left_seconds: number | null;
  readonly summary: DeviceSummaryWire;
  readonly next: DeviceNextWire | null;
  /** Of the last hour, the share spent draining, unloading and loading. 0 to 1. */
  readonly swap_share_1h: number;
  readonly swaps_1h: number;
}

export interface StatusWire {
  readonly object: "status";
  /** Of the stream's last frame when this was true. */
  readonly seq: number;
  /** Of the router that answered; another one's frames do not follow on. */
  readonly boot: string;
  readonly started_at: number;
  readonly at: number;
  /** Of the router, by its IANA name: times of day in sentences are told by it. */
  readonly time_zone: string;
  readonly totals: TotalsWire;
  readonly version: string;
  readonly policy: string;
  readonly paused: boolean;
  /** Of the whole router. */
  readonly pause: PauseWire | null;
  readonly draining: boolean;
  readonly queued: number;
  readonly running: number;
  readonly models: readonly ModelStatusWire[];
  readonly devices: readonly DeviceStatusWire[];
  readonly preloading: {
    readonly mode: "auto" | "hints" | false;
    readonly hint: PreloadRecordWire;
    readonly learned: PreloadRecordWire;
  };
  readonly store: { readonly jobs: number; readonly stored_bytes: number; readonly wal_bytes: number };
}

export interface ReadyWire {
  readonly status: "ready" | "not_ready";
  readonly problems: readonly string[];
}

export interface LogsWire {
  readonly object: "logs";
  readonly model: string;
  /** Oldest first. */
  readonly lines: readonly string[];
}
