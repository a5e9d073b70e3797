// The scheduler's section: which policy, and the settings of all policies, flat. Those of a policy that is not chosen are
// accepted, so that policies can be compared by changing one word; `sir doctor` names them as unused.

import { z } from "zod";
import type { ShadowSettings } from "../engine/settings.ts";
import { bindPolicy, keysOf, POLICY_NAMES, type PolicyName } from "../scheduler/policies/registry.ts";
import { schedulerSettingsShape } from "../scheduler/policies/settings.ts";
import type { BoundPolicy } from "../scheduler/policy.ts";
import { closest } from "./closest.ts";
import { bindShadow, shadowSection } from "./shadow.ts";
import { name, seconds } from "./units.ts";

function policyMend(came: unknown): string {
  const known = `known: ${POLICY_NAMES.join(", ")}`;
  if (typeof came !== "string") return known;
  const near = closest(came, POLICY_NAMES);
  return near === null ? known : `did you mean "${near}"? ${known}`;
}

export const schedulerSection = z
  .strictObject({
    policy: z
      .enum(POLICY_NAMES as readonly [PolicyName, ...PolicyName[]], { error: ({ input }) => policyMend(input) })
      .default("model-score")
      .describe("How the next owner of a device is chosen."),
    drainSeconds: seconds()
      .default(300)
      .describe("Running jobs of a model that is evicted may finish for so long; then they are interrupted."),
    neverTogether: z
      .array(z.array(name()).min(2).max(1000))
      .max(1000)
      .default([])
      .describe("Sets of models of which no two are ever loaded on one device at the same time."),
    replicas: z
      .boolean()
      .default(true)
      .describe(
        "Whether a model may be loaded on a second device, when its queue takes longer than four loads with one copy more.",
      ),
    preloading: z
      .union([z.literal("auto"), z.literal("hints"), z.literal(false)])
      .default("auto")
      .describe(
        "Loading models ahead of need on an idle device: `auto`, for hints, and for what arrivals have taught once it has come true often enough; `hints`, for hints alone; false, never.",
      ),
    preloadShare: z
      .number()
      .min(0)
      .max(1)
      .default(0.05)
      .describe("The share of a device's time that loads ahead of need may take."),
    preloadBudgetSeconds: seconds()
      .default(1_200)
      .describe("How much of that share may be saved up; a model that loads longer is never loaded ahead of need."),
    shadow: shadowSection,
    ...schedulerSettingsShape,
  })
  .prefault({})
  .describe("How the next owner of a device is chosen; the settings of all policies lie flat beside each other.");

export type SchedulerDocument = z.output<typeof schedulerSection>;

export interface BoundScheduler {
  readonly policy: BoundPolicy;
  readonly shadow: ShadowSettings | null;
  /** The section with the policy's own defaults filled in, without what it does not read. */
  readonly effective: Readonly<Record<string, unknown>>;
  /** Settings that were written down and that the chosen policy does not read. */
  readonly unused: readonly string[];
}

export function bindScheduler(scheduler: SchedulerDocument): BoundScheduler {
  const policy = bindPolicy(scheduler.policy, scheduler);
  const { policy: named, drainSeconds, neverTogether, replicas, ...rest } = scheduler;
  const { preloading, preloadShare, preloadBudgetSeconds } = rest;
  const ahead = { preloading, preloadShare, preloadBudgetSeconds };
  const general = { policy: named, drainSeconds, neverTogether, replicas, shadow: rest.shadow, ...ahead };
  const read = [...keysOf(scheduler.policy), ...Object.keys(general)];
  const unused = Object.keys(scheduler).filter((key) => !read.includes(key));
  return { policy, shadow: bindShadow(scheduler), effective: { ...general, ...policy.settings }, unused };
}
