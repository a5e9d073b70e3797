// Writers that come too late: what a dead router, or an attempt that was cancelled, would still say about a job.

import type { JobId } from "../../src/domain/ids.ts";
import type { Job } from "../../src/domain/job.ts";
import type { Store } from "../../src/store/store.ts";
import { overlay } from "./overlay.ts";
import type { Router, Site } from "./site.ts";

const REMEMBERED = 400;

/** The newest claim of each job, as its router was given it. */
export class Claims {
  readonly #claims = new Map<JobId, Job>();
  readonly #again: (earlier: Job) => void;

  /** @param again Hears of the earlier claim when a job is claimed once more. */
  constructor(again: (earlier: Job) => void) {
    this.#again = again;
  }

  /** The store, with an ear on what it grants. */
  watch(store: Store): Store {
    return overlay(store, {
      claim: async (authority, picks) => {
        const rows = await store.claim(authority, picks);
        for (const row of rows) if (row !== null) this.#remember(row);
        return rows;
      },
    });
  }

  of(id: JobId): Job | null {
    return this.#claims.get(id) ?? null;
  }

  #remember(row: Job): void {
    const earlier = this.#claims.get(row.id);
    if (earlier !== undefined && earlier.epoch < row.epoch) this.#again(earlier);
    this.#claims.delete(row.id);
    this.#claims.set(row.id, row);
    const [oldest] = this.#claims.keys();
    if (this.#claims.size > REMEMBERED && oldest !== undefined) this.#claims.delete(oldest);
  }
}

/** 6: an outcome under a claim that no longer holds changes nothing. */
export async function lateFinish(site: Site, router: Router, claim: Job): Promise<void> {
  if (claim.state.status !== "running") return;
  const { id, epoch } = claim;
  const body = Buffer.from("the answer of a writer that came too late");
  const taken = await router.store.finish(
    { id, epoch, owner: claim.state.owner },
    { kind: "succeeded", result: { status: 200, headers: {}, body } },
    { firstByteAtMs: null, outcome: "succeeded", detail: null },
  );
  if (taken !== null)
    site.ledger.violate(site.clock.nowMs(), `${id} took an outcome under epoch ${epoch}, which is over`);
}
