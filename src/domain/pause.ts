// An operator's pause: what it holds back, who asked for it and why.

import type { DeviceId, ModelName } from "./ids.ts";

export type PauseScope = "router" | "device" | "model";

/** Instants are router time in ms. */
export interface Pause {
  readonly scope: PauseScope;
  /** The device or model; null of the router. */
  readonly subject: DeviceId | ModelName | null;
  /** A key's name, or `local`. */
  readonly who: string;
  readonly note: string | null;
  readonly fromMs: number;
  /** Null: it still holds. */
  readonly toMs: number | null;
}
