// What somebody who follows a job was told of its start, and whether what is expected now is news to them.

import { hasMoved } from "../domain/estimate.ts";
import type { Place } from "../engine/control.ts";
import { becauseWords, type ToldPlace } from "../explain/because.ts";

export interface StartNews {
  /** It has moved by more than a tenth. */
  readonly moved: boolean;
  /** Null: it is not expected later. */
  readonly because: string | null;
}

const NO_NEWS: StartNews = { moved: false, because: null };

export class StartWatch {
  #told: (ToldPlace & { readonly midAtMs: number }) | null = null;

  /** Remembers what is told now where it is the first or news. */
  look(place: Place | null): StartNews {
    if (place === null || place.start === null) return NO_NEWS;
    const { arrived, position, asOfMs } = place;
    const midAtMs = asOfMs + place.start.midMs;
    const told = this.#told;
    if (told !== null && !hasMoved(told.midAtMs, midAtMs, asOfMs)) return NO_NEWS;
    this.#told = { arrived, position, midAtMs };
    if (told === null) return NO_NEWS;
    return { moved: true, because: midAtMs > told.midAtMs ? becauseWords(told, place) : null };
  }
}
