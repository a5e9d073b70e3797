// How many jobs of its own model were started while a job was queued: counters of the model and two numbers a job, so
// that a start costs the same however many wait.

import { BANDS, type Band } from "../domain/band.ts";
import type { WentFirst } from "../domain/job.ts";
import type { LiveJob } from "./live-job.ts";

/** A job that was admitted so much later than it was accepted was queued where nobody counted: another router's. */
const UNSEEN_MS = 1_000;

/** One model's starts since this router's own. */
export class StartTally {
  /** Of so urgent a band or a more urgent one, in the order of `BANDS`. */
  readonly #upTo: number[] = BANDS.map(() => 0);

  get all(): number {
    return this.#upTo[BANDS.length - 1] ?? 0;
  }

  /** In bands that are more urgent. */
  above(band: Band): number {
    return this.#upTo[BANDS.indexOf(band) - 1] ?? 0;
  }

  started(band: Band): void {
    for (let i = BANDS.indexOf(band); i < BANDS.length; i++) this.#upTo[i] = (this.#upTo[i] ?? 0) + 1;
  }
}

/** What a job's count begins with. */
export function firstCount({ acceptedAtMs }: Pick<LiveJob, "acceptedAtMs">, nowMs: number): number {
  return nowMs - acceptedAtMs > UNSEEN_MS ? Number.NaN : 0;
}

/** While it is queued its counts are short by what the model had started before. */
export function joinsQueue(live: LiveJob, starts: StartTally): void {
  live.wentFirst -= starts.all;
  live.wentFirstHigher -= starts.above(live.band);
}

export function leavesQueue(live: LiveJob, starts: StartTally): void {
  live.wentFirst += starts.all;
  live.wentFirstHigher += starts.above(live.band);
}

/** Until now; null: not all of them were seen. */
export function wentFirstOf(live: LiveJob, starts: StartTally): WentFirst | null {
  const { wentFirst, wentFirstHigher, band, phase } = live;
  if (Number.isNaN(wentFirst)) return null;
  if (phase !== "queued") return { jobs: wentFirst, higher: wentFirstHigher };
  return { jobs: wentFirst + starts.all, higher: wentFirstHigher + starts.above(band) };
}
