// The JSON of the operators' routes, as types: status, readiness, logs.

import type { DecisionWire, ForecastWire, PreloadRecordWire } from "./wire.ts";

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
  readonly memory_gib: number | null;
  readonly measured_gib: number | null;
  readonly since: number | null;
  readonly pinned: boolean;
  readonly paused: boolean;
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
  readonly decision: DecisionWire | null;
  /** Left of its budget for loads ahead of need; null: there are none. */
  readonly preload_left_seconds: number | null;
}

export interface StatusWire {
  readonly object: "status";
  readonly at: number;
  readonly version: string;
  readonly policy: string;
  readonly paused: boolean;
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
