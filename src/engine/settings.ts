// What the engine is told once, at assembly. Durations in ms.

import type { Band } from "../domain/band.ts";
import type { PoolId } from "../domain/ids.ts";
import type { DeviceSpec, ModelSpec } from "../domain/model.ts";
import type { SettingValues } from "../domain/tuning.ts";
import type { BoundPolicy } from "../scheduler/policy.ts";

/** Loads ahead of need: what may cause them, and what they may cost. */
export interface PreloadSettings {
  /** `hints`: what was learned of arrivals is only watched. False: nothing is loaded ahead. */
  readonly mode: "auto" | "hints" | false;
  /** Of a device's time. */
  readonly share: number;
  /** The largest budget of a device. */
  readonly mostMs: number;
  /** A load second costs so many weighted seconds of waiting. */
  readonly price: number;
  /** What a waiting second of a job is worth. */
  readonly weights: Readonly<Record<Band, number>>;
}

/** A second policy, asked on the same snapshots and never obeyed. */
export interface ShadowSettings {
  readonly policy: BoundPolicy;
  /** How it differs, for the record. */
  readonly set: SettingValues;
}

export interface EngineSettings {
  readonly pool: PoolId;
  readonly models: readonly ModelSpec[];
  readonly devices: readonly DeviceSpec[];
  readonly policy: BoundPolicy;
  /** Absent or null: none. */
  readonly shadow?: ShadowSettings | null;
  readonly leaseMs: number;
  readonly sweepMs: number;
  readonly maxAttempts: number;
  readonly maxInterruptions: number;
  /** How long an aborted engine call may keep its slot when its socket does not close. */
  readonly cancelGraceMs: number;
  /** How long a synchronous request whose socket closed keeps its place, if its caller can come back. */
  readonly orphanMs: number;
  /** Running jobs of a model that is to be evicted get so long; then they are interrupted. */
  readonly drainMs: number;
  readonly shutdownMs: number;
  /** Whether a model may be loaded on a second device when that pays; absent: it may. */
  readonly replicas?: boolean;
  /**
   * Leases, deadlines, pruning and looking after idle engines are left out: for simulations in which none of them has
   * anything to do, and each would be an instant of its own. Default false.
   */
  readonly unattended?: boolean;
  /** Absent: off. */
  readonly preloading?: PreloadSettings;
  /** `ticks` reproduces the founding essay: passes at arrivals, load ends and every so often, never at completions. */
  readonly passes: { readonly mode: "events" } | { readonly mode: "ticks"; readonly everyMs: number };
}
