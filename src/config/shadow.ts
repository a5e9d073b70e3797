// `scheduler.shadow`: a second policy that is asked on the very snapshots of the first, and never obeyed.

import { z } from "zod";
import type { ShadowSettings } from "../engine/settings.ts";
import { bindPolicy, POLICY_NAMES, type PolicyName } from "../scheduler/policies/registry.ts";
import { schedulerSettingsShape } from "../scheduler/policies/settings.ts";

export const shadowSection = z
  .strictObject({
    policy: z
      .enum(POLICY_NAMES as readonly [PolicyName, ...PolicyName[]])
      .optional()
      .describe("The policy that is asked as well; absent: the one that decides, with other settings."),
    set: z
      .strictObject(schedulerSettingsShape)
      .default({})
      .describe("Settings that differ from those of the section, e.g. { maxWaitSeconds: 600 }."),
  })
  .nullable()
  .default(null)
  .describe(
    "A second policy that is asked on the same snapshots and never obeyed; where it would move something else, that is counted and stored. Null: none.",
  );

/** @param scheduler The section as written. */
export function bindShadow(
  scheduler: Readonly<Record<string, unknown>> & {
    readonly policy: PolicyName;
    readonly shadow: z.output<typeof shadowSection>;
  },
): ShadowSettings | null {
  const { shadow, policy } = scheduler;
  if (shadow === null) return null;
  const set = Object.fromEntries(Object.entries(shadow.set).filter(([, value]) => value !== undefined));
  return { policy: bindPolicy(shadow.policy ?? policy, { ...scheduler, ...set }), set };
}
