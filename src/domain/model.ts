// A model as the router knows it, and a device it may occupy. Made from the configuration, durations in ms.

import type { DeviceId, ModelName } from "./ids.ts";

export interface ModelSpec {
  readonly name: ModelName;
  readonly label: string;
  readonly aliases: readonly string[];
  /** What the engine calls it; null: the bytes go through as they came. */
  readonly upstreamName: string | null;
  /** The model's own weight in `model-score`; above 0. */
  readonly priority: number;
  /** Attempts that may run at once. */
  readonly concurrency: number;
  /** Footprint while resident, over all its devices; null: whole devices. */
  readonly memoryGiB: number | null;
  /** First guess; measured loads replace it. */
  readonly loadMs: number;
  /** False: always on elsewhere (`remote`); it uses no device and takes no part in swaps. */
  readonly usesDevice: boolean;
  /** The devices it may be loaded on, or is loaded across; empty when `usesDevice` is false. */
  readonly devices: readonly DeviceId[];
  /** It takes all of `devices` at once, its footprint split evenly; absent: any one of them. */
  readonly across?: boolean;
  /** Models that are never on a device together with it; absent: none. */
  readonly apartFrom?: readonly ModelName[];
  readonly pinned: boolean;
  readonly preload: boolean;
  /** Unload after so long without work; null: never. */
  readonly unloadAfterMs: number | null;
  readonly maxLoadFailures: number;
  readonly loadTimeoutMs: number;
  readonly firstLoadTimeoutMs: number;
  readonly firstByteTimeoutMs: number;
  readonly idleTimeoutMs: number;
  readonly runTimeoutMs: number;
  /** Work in flight and no sign of progress for so long: the engine is asked a question of our own. */
  readonly stallMs: number;
  /**
   * How background responses reach the engine: by its own Responses endpoint, by chat completions, or (`auto`, the default)
   * by whichever it turns out to have.
   */
  readonly responses?: "auto" | "native" | "chat";
}

/** A command whose first number on stdout is the device's free memory. */
export interface MemoryProbe {
  readonly command: readonly string[];
  readonly unit: "B" | "KiB" | "MiB" | "GiB";
}

export interface DeviceSpec {
  readonly id: DeviceId;
  readonly memoryGiB: number | null;
  /** Null: free memory cannot be asked for; drivers are believed. */
  readonly memoryProbe: MemoryProbe | null;
}
