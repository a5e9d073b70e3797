// What stint can be told, with its defaults. Weights and deadlines are the owner's choice; the rest was found on simulated
// and recorded traffic, and most of it matters little.

import { z } from "zod";
import type { Band } from "../../../domain/band.ts";
import { DEFAULT_WEIGHING } from "../../weigh.ts";
import * as keys from "../settings.ts";

export type PerBand = Readonly<Record<Band, number>>;

const filled = (schema: typeof keys.weight, defaults: PerBand) =>
  schema.prefault({}).transform((given): PerBand => ({ ...defaults, ...given }));

export const settings = z.object({
  weight: filled(keys.weight, DEFAULT_WEIGHING.weight),
  doublesSeconds: filled(keys.doublesSeconds, DEFAULT_WEIGHING.doublesSeconds),
  visitSeconds: filled(keys.visitSeconds, { interactive: 1_200, normal: 5_400, batch: 43_200 }),
  swapShare: keys.swapShare.default(0.2),
  burst: keys.burst.default(4),
  price: keys.price.default(0.25),
  hold: keys.hold.default(1),
  holdMax: keys.holdMax.default(0.5),
  rateHalfLifeSeconds: keys.rateHalfLifeSeconds.default(DEFAULT_WEIGHING.rateHalfLifeSeconds),
  carry: keys.carry.default(0.2),
  rescueSlack: keys.rescueSlack.default(1.25),
  rescue: keys.rescue.default(true),
});

export type Settings = z.output<typeof settings>;
