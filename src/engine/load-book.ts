// What loads of each model took and why they failed: the newest ones, for people who compare them with the guess.

import type { LoadOutcome } from "../domain/event.ts";
import type { ModelName } from "../domain/ids.ts";
import type { LoadHistory } from "./overview.ts";

const KEPT = 14;
const FAILURES_KEPT = 5;
const P90 = 0.9;

interface Page {
  readonly lastMs: number[];
  count: number;
  readonly failures: { readonly atMs: number; readonly error: string }[];
}

const NONE: LoadHistory = { medianMs: null, p90Ms: null, count: 0, lastMs: [], failures: [] };

export class LoadBook {
  readonly #pages = new Map<ModelName, Page>();

  /** In order of time. A load that was given up says nothing. */
  ended(model: ModelName, load: { outcome: LoadOutcome; tookMs: number; atMs: number; detail: string | null }): void {
    if (load.outcome === "abandoned") return;
    const page = this.#pages.get(model) ?? { lastMs: [], count: 0, failures: [] };
    this.#pages.set(model, page);
    if (load.outcome === "ready") {
      page.count++;
      page.lastMs.push(load.tookMs);
      if (page.lastMs.length > KEPT) page.lastMs.shift();
      return;
    }
    page.failures.unshift({ atMs: load.atMs, error: load.detail ?? "It did not load." });
    if (page.failures.length > FAILURES_KEPT) page.failures.pop();
  }

  /** Median and p90 are of the loads that are listed. */
  of(model: ModelName): LoadHistory {
    const page = this.#pages.get(model);
    if (page === undefined) return NONE;
    const sorted = page.lastMs.toSorted((a, b) => a - b);
    const at = (share: number): number | null => sorted[Math.floor(share * (sorted.length - 1))] ?? null;
    return { medianMs: at(1 / 2), p90Ms: sorted[Math.ceil(P90 * (sorted.length - 1))] ?? null, ...page };
  }
}
