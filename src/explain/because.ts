// Why a job is expected to start later than was said before.

import type { Band } from "../domain/band.ts";
import type { Place } from "../engine/control.ts";
import { listed, quantity } from "../scheduler/wording.ts";

/** What is kept of a place that somebody was told. */
export type ToldPlace = Pick<Place, "arrived" | "position">;

/** Most telling first: who came, who went ahead, or else that work takes longer than it did. Without a full stop. */
export function becauseWords(told: ToldPlace, now: ToldPlace): string {
  const bands = Object.keys(now.arrived) as Band[];
  const came = bands.flatMap((band) => {
    const count = now.arrived[band] - told.arrived[band];
    return count > 0 ? [{ band, count }] : [];
  });
  if (came.length > 0) return `${listed(came.map(({ band, count }) => quantity(count, `${band} job`)))} arrived`;
  const behind = (now.position ?? 0) - (told.position ?? 0);
  if (behind > 0) return `${quantity(behind, "job")} went ahead of it`;
  return "what is ahead of it takes longer than it did before";
}
