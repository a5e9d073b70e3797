// A model's queue as a fluid, and what the scheduler would see of it while it drains.

import { BANDS, type Band } from "../domain/band.ts";
import type { BandView, Head, ModelView } from "./snapshot.ts";
import { aloneSeconds, slowness } from "./weigh.ts";

/** `jobs` of a model's queue start between two instants, evenly; all at once where both are the same. */
export interface Stretch {
  readonly fromMs: number;
  readonly toMs: number;
  readonly jobs: number;
}

export interface Tank {
  /** As it is now, at the start. */
  readonly view: ModelView;
  /** From start to end of one job with every slot taken. */
  readonly runMs: number;
  queued: number;
  unvisitedSinceMs: number | null;
  readonly bands: Record<Band, number>;
  readonly stretches: Stretch[];
}

export function tankOf(view: ModelView): Tank {
  const runMs = aloneSeconds(view) * slowness(view, view.slots) * 1_000;
  const bands = Object.fromEntries(BANDS.map((band) => [band, view.bands[band].depth])) as Record<Band, number>;
  return {
    view,
    runMs: Math.max(1, runMs),
    queued: view.depth,
    unvisitedSinceMs: view.unvisitedSinceMs,
    bands,
    stretches: [],
  };
}

/** Jobs a ms with every slot taken. */
export function rate({ view, runMs }: Tank): number {
  return view.slots / runMs;
}

/** @param busyUntilMs When the last that runs on its device has ended; null: it is on none. */
export function viewAt(
  { view, queued, bands, unvisitedSinceMs }: Tank,
  busyUntilMs: number | null,
  nowMs: number,
): ModelView {
  const depth = Math.ceil(queued - 1e-6);
  const kept = Object.fromEntries(
    BANDS.map((band) => [band, bandAt(view.bands[band], bands[band])]),
  ) as ModelView["bands"];
  const served = view.depth - depth;
  const oldest = BANDS.flatMap((band) => kept[band].oldest ?? []).sort((a, b) => a.acceptedAtMs - b.acceptedAtMs)[0];
  const shiftMs = served === 0 ? 0 : Math.max(0, (oldest?.acceptedAtMs ?? 0) - (view.oldest?.acceptedAtMs ?? 0));
  const running = busyUntilMs !== null && busyUntilMs > nowMs;
  return {
    ...view,
    depth,
    unvisitedSinceMs: busyUntilMs === null && depth > 0 ? unvisitedSinceMs : null,
    bands: kept,
    head: depth === 0 || view.head === null ? null : shifted(view.head, shiftMs),
    oldest: depth === 0 ? null : (oldest ?? null),
    inFlight: running ? Math.max(1, depth > 0 ? view.slots : 1) : 0,
  };
}

/** As if its jobs had come evenly from the oldest to the newest, and the oldest went first. */
function bandAt(band: BandView, left: number): BandView {
  const depth = Math.ceil(left - 1e-6);
  if (depth <= 0 || band.oldest === null) return { ...band, depth: 0, acceptedAtMsSum: 0, oldest: null };
  if (depth === band.depth) return band;
  const firstMs = band.oldest.acceptedAtMs;
  const newestMs = Math.max(firstMs, (2 * band.acceptedAtMsSum) / band.depth - firstMs);
  const shiftMs = (newestMs - firstMs) * (1 - depth / band.depth);
  const sum = (depth * (firstMs + shiftMs + newestMs)) / 2;
  return { ...band, depth, acceptedAtMsSum: sum, oldest: shifted(band.oldest, shiftMs) };
}

function shifted(head: Head, byMs: number): Head {
  return byMs === 0 ? head : { ...head, acceptedAtMs: head.acceptedAtMs + byMs, rank: head.rank + byMs };
}
