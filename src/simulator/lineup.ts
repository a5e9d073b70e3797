// The rules that are compared, by name: the policies as they are shipped, and variants that show what a setting is worth.

import { isPolicyName, POLICY_NAMES } from "../scheduler/policies/registry.ts";
import { FOUNDING } from "../scheduler/presets.ts";
import type { SimulationSettings } from "./assembly.ts";

export interface Entrant {
  readonly name: string;
  readonly about: string;
  /** Compared when no policies are named. */
  readonly usual: boolean;
  readonly scheduler: SimulationSettings["scheduler"];
  /** Callers name no priority. */
  readonly blind?: boolean;
  /** Models have no priority of their own either. */
  readonly equal?: boolean;
  readonly passes?: SimulationSettings["passes"];
}

/** The founding rule's two constants brought to what loads of minutes need, by hand. */
const TUNED = { minResidencySeconds: 300, maxWaitSeconds: 3_600 } as const;

/** As others have the rule: nothing makes it serve what it has loaded. */
const UNGUARDED = { serveBeforeSwap: false } as const;

const VARIANTS: readonly Entrant[] = [
  entrant("fifo", "first come, first served, the loaded model's queue first", { policy: "fifo" }),
  entrant("fifo-strict", "exact order of arrival and priority, whatever it loads", { policy: "fifo", strict: true }),
  entrant("serial", "priority, ageing and affinity, slots filled; may swap again before it has served", {
    policy: "serial",
    ...UNGUARDED,
  }),
  entrant("serial-literal", "the same, one job at a time", { policy: "serial", batch: false, ...UNGUARDED }),
  entrant("longest", "the longest queue when the loaded model's is empty", { policy: "longest" }),
  entrant("model-score", "the score with 30 s of residency and a ceiling of 120 s", { policy: "model-score" }),
  entrant("model-score-tuned", "the score with 300 s of residency and a ceiling of an hour", {
    policy: "model-score",
    ...TUNED,
  }),
  ...(isPolicyName("stint") ? [entrant("stint", "what a load saves against what it costs", { policy: "stint" })] : []),
  ...[
    { ...entrant("fifo-blind", "fifo when nobody has a priority: order of arrival", { policy: "fifo" }), equal: true },
    entrant("longest-blind", "longest when callers name no priority", { policy: "longest" }),
    entrant("model-score-blind", "model-score when callers name no priority", { policy: "model-score" }),
    entrant("model-score-tuned-blind", "the tuned score when callers name no priority", {
      policy: "model-score",
      ...TUNED,
    }),
  ].map((each) => ({ ...each, usual: false, blind: true })),
  {
    ...entrant("as-written", "the founding rule, which may swap again before anything was served", FOUNDING),
    usual: false,
    blind: true,
    passes: { mode: "ticks", everyMs: 250 },
  },
];

function entrant(name: string, about: string, scheduler: Entrant["scheduler"]): Entrant {
  return { name, about, usual: true, scheduler };
}

/** Variants first, then policies that have none. */
export const LINEUP: readonly Entrant[] = [
  ...VARIANTS,
  ...POLICY_NAMES.filter((name) => !VARIANTS.some((each) => each.name === name)).map((name) =>
    entrant(name, "as shipped", { policy: name }),
  ),
];

export function entrantNamed(name: string): Entrant | null {
  return LINEUP.find((each) => each.name === name) ?? null;
}

/** A lean run under the entrant's rule, with settings that a server would refuse too. */
export function settingsOf({ name, scheduler, blind, passes }: Entrant): SimulationSettings {
  return {
    title: name,
    scheduler,
    lean: true,
    unchecked: true,
    blind: blind === true,
    ...(passes === undefined ? {} : { passes }),
  };
}
