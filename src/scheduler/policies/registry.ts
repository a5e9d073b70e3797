// The policies by name; one line adds one. `bindPolicy` gives a policy its part of the configuration's flat block.

import { z } from "zod";
import type { BoundPolicy, GuardSettings, Policy } from "../policy.ts";
import { fifo } from "./fifo.ts";
import { longest } from "./longest.ts";
import { modelScore } from "./model-score.ts";
import { serial } from "./serial.ts";
import * as keys from "./settings.ts";
import { stint } from "./stint/stint.ts";

export const POLICIES = {
  fifo: bindable(fifo),
  serial: bindable(serial),
  "model-score": bindable(modelScore),
  longest: bindable(longest),
  stint: bindable(stint),
} as const;

export type PolicyName = keyof typeof POLICIES;
export const POLICY_NAMES = Object.keys(POLICIES) as readonly PolicyName[];

export function isPolicyName(name: string): name is PolicyName {
  return Object.hasOwn(POLICIES, name);
}

type Raw = Readonly<Record<string, unknown>>;

interface Bindable {
  readonly keys: readonly string[];
  bind(raw: Raw): BoundPolicy;
}

const GUARD_KEYS = ["minResidencySeconds", "maxWaitSeconds", "switchCostWeight", "serveBeforeSwap"] as const;

/** The keys of the `scheduler` block that this policy or its guards read; others are accepted and unused. */
export function keysOf(name: PolicyName): readonly string[] {
  return [...new Set([...GUARD_KEYS, ...POLICIES[name].keys])];
}

/**
 * @param raw The configuration's flat `scheduler` block, durations in seconds. Keys of others are not looked at.
 * @throws Error when the name is unknown or a value is not allowed; the message says which.
 */
export function bindPolicy(name: string, raw: Raw): BoundPolicy {
  if (!isPolicyName(name)) throw new Error(`There is no policy "${name}". There are: ${POLICY_NAMES.join(", ")}.`);
  return POLICIES[name].bind(raw);
}

function bindable<Settings>(policy: Policy<Settings>): Bindable {
  const guards = guardSchema(policy.guardDefaults);
  return {
    keys: policy.keys,
    bind: (raw) => {
      const ruled = parse(policy.name, guards, raw);
      const settings = parse(policy.name, policy.settings, raw);
      return {
        name: policy.name,
        ranking: policy.ranking(settings),
        ...(policy.rateHalfLifeMs === undefined ? {} : { rateHalfLifeMs: policy.rateHalfLifeMs(settings) }),
        residentPoints: policy.residentPoints(settings),
        guards: inMs(ruled),
        settings: { ...ruled, ...settings },
        ...(policy.visitBoundMs === undefined
          ? {}
          : { visitBoundMs: (facts) => policy.visitBoundMs?.(facts, settings) ?? 0 }),
        choose: (field) => policy.choose(field, settings),
      };
    },
  };
}

function guardSchema(defaults: Policy["guardDefaults"]) {
  return z.object({
    minResidencySeconds: keys.minResidencySeconds.default(defaults.minResidencySeconds),
    maxWaitSeconds: keys.maxWaitSeconds.default(defaults.maxWaitSeconds),
    switchCostWeight: keys.switchCostWeight.default(1),
    serveBeforeSwap: keys.serveBeforeSwap.default("residency"),
  });
}

function inMs(guards: z.infer<ReturnType<typeof guardSchema>>): GuardSettings {
  const ms = (seconds: number | null): number | null => (seconds === null ? null : seconds * 1000);
  return {
    minResidencyMs: ms(guards.minResidencySeconds),
    maxWaitMs: ms(guards.maxWaitSeconds),
    switchCostWeight: guards.switchCostWeight,
    serveBeforeSwap: guards.serveBeforeSwap,
  };
}

function parse<T>(name: string, schema: z.ZodType<T>, raw: Raw): T {
  const parsed = schema.safeParse(raw);
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.map((issue) => `scheduler.${issue.path.join(".")}: ${issue.message}`);
  throw new Error(`The settings of policy "${name}" are not allowed: ${faults.join("; ")}.`);
}
