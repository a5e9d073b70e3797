// What only operators read of the engine: the last hour, moves in detail, what is expected next. It costs more than
// `EngineStatus`, which is asked for at each acceptance. Instants are router time.

import type { DecisionId, DeviceId, ModelName } from "../domain/ids.ts";

export interface Overview {
  readonly startedAtMs: number;
  readonly lastHour: {
    readonly succeeded: number;
    readonly failed: number;
    readonly lapsed: number;
    /** Median of |actual - estimated| / actual; null below 20. */
    readonly estimateError: number | null;
  };
  readonly models: ReadonlyMap<ModelName, ModelOverview>;
  readonly devices: ReadonlyMap<DeviceId, DeviceOverview>;
}

/** The newest fourteen loads that succeeded and the newest five that failed, also of earlier routers. */
export interface LoadHistory {
  /** Null: none. */
  readonly medianMs: number | null;
  readonly p90Ms: number | null;
  /** How many were measured; of earlier routers only those that are listed. */
  readonly count: number;
  /** Oldest first. */
  readonly lastMs: readonly number[];
  /** Newest first; the engine's last lines are the last lines of `error`. */
  readonly failures: readonly { readonly atMs: number; readonly error: string }[];
}

/** When something is expected. Null where it is not known: there were too few outcomes of such estimates to go by. */
export interface Expected {
  readonly lowAtMs: number | null;
  readonly midAtMs: number | null;
  readonly highAtMs: number | null;
  /** The policy's promise of when its model is loaded at the latest; null: it makes none, or it is loaded. */
  readonly boundAtMs: number | null;
}

export interface ModelOverview {
  readonly loads: LoadHistory;
  /** Of the newest jobs that began in the last hour, 256 at most; null: none did. */
  readonly waitP50Ms: number | null;
  readonly waitP95Ms: number | null;
  /** Of its first waiting job; null: nothing waits. */
  readonly first: Expected | null;
  /** When the last of its waiting jobs is expected to start. */
  readonly lastAtMs: number | null;
}

/** A loaded model on a device. */
export interface TenantOverview {
  readonly model: ModelName;
  readonly running: number;
  readonly slots: number;
  readonly leaving: boolean;
}

export interface MoveOverview {
  readonly phase: "draining" | "unloading" | "loading";
  /** Null: something goes and nothing comes. */
  readonly load: ModelName | null;
  readonly evict: readonly ModelName[];
  readonly phaseSinceMs: number;
  readonly decision: DecisionId | null;
  /** 0 to 1, as the engine says. */
  readonly progress: number | null;
  /** How long the load usually takes; null: there is none. */
  readonly loadMs: number | null;
  /** Jobs that still run on what goes, and for how long the oldest has. */
  readonly running: number;
  readonly oldestRunMs: number | null;
}

export interface DeviceOverview {
  readonly tenants: readonly TenantOverview[];
  readonly move: MoveOverview | null;
  /** A model would not stop, or its memory did not come back; null: nothing of the kind. */
  readonly blocked: { readonly untilMs: number; readonly detail: string } | null;
  /** Of the last hour, the share spent draining, unloading and loading. */
  readonly swapShare: number;
  readonly swaps: number;
  /** The model that comes next, or is on its way; null: none is foreseen. */
  readonly next: ({ readonly model: ModelName } & Expected) | null;
}
