// What can be tried: each policy's settings with their unit, sentence, default and range, from the very schemas that the
// configuration is checked with.

import { z } from "zod";
import { bindPolicy, keysOf, POLICY_NAMES } from "../scheduler/policies/registry.ts";
import { schedulerSettingsShape } from "../scheduler/policies/settings.ts";

export interface SettingChoice {
  readonly key: string;
  readonly unit: string;
  readonly description: string;
  readonly default: unknown;
  readonly schema: Readonly<Record<string, unknown>>;
}

/** @param written The configuration's own `scheduler` section: what another policy would read of it is its default. */
export function settingChoices(written: Readonly<Record<string, unknown>>): Record<string, SettingChoice[]> {
  return Object.fromEntries(POLICY_NAMES.map((name) => [name, choicesOf(name, written)]));
}

function choicesOf(name: (typeof POLICY_NAMES)[number], written: Readonly<Record<string, unknown>>): SettingChoice[] {
  const defaults = bindPolicy(name, written).settings ?? {};
  return keysOf(name).flatMap((key) => {
    const schema = (schedulerSettingsShape as Readonly<Record<string, z.ZodType>>)[key];
    if (schema === undefined) return [];
    const {
      description = "",
      unit = "",
      $schema: _,
      ...shape
    } = z.toJSONSchema(schema, { unrepresentable: "any" }) as {
      description?: string;
      unit?: string;
    } & Record<string, unknown>;
    return [{ key, unit, description, default: defaults[key] ?? null, schema: shape }];
  });
}
