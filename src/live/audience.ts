// Who is told of everything that happens in the router: log, counters, batches, dashboards. In the order in which they came.

import type { Change } from "../domain/change.ts";
import type { Emit, RouterEvent } from "../domain/event.ts";

export interface Listener {
  readonly event: Emit;
  /** Absent: its jobs and spans are of no use to it. */
  readonly change?: (change: Change) => void;
}

export class Audience {
  readonly #listeners: Listener[] = [];

  add(...listeners: readonly Listener[]): void {
    this.#listeners.push(...listeners);
  }

  event(event: RouterEvent): void {
    for (const listener of this.#listeners) listener.event(event);
  }

  change(change: Change): void {
    for (const listener of this.#listeners) listener.change?.(change);
  }
}
