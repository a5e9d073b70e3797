// Sums what each device spent its time on, from its changes of phase. Every millisecond between the first change and the
// last look is counted once.

import type { DevicePhase } from "../domain/event.ts";

export class DevicePhases {
  readonly #current = new Map<string, { phase: DevicePhase; sinceMs: number }>();
  readonly #spent: (device: string, phase: DevicePhase, tookMs: number) => void;

  constructor(spent: (device: string, phase: DevicePhase, tookMs: number) => void) {
    this.#spent = spent;
  }

  enter(device: string, phase: DevicePhase, atMs: number): void {
    this.#account(device, atMs);
    const sinceMs = Math.max(atMs, this.#current.get(device)?.sinceMs ?? atMs);
    this.#current.set(device, { phase, sinceMs });
  }

  /** Counts the phases that still last, up to now. */
  accountUntil(nowMs: number): void {
    for (const device of this.#current.keys()) this.#account(device, nowMs);
  }

  #account(device: string, nowMs: number): void {
    const current = this.#current.get(device);
    if (current === undefined || nowMs <= current.sinceMs) return;
    this.#spent(device, current.phase, nowMs - current.sinceMs);
    current.sinceMs = nowMs;
  }
}
