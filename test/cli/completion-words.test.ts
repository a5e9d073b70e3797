// The closed lists that a shell offers are those that the commands take.

import { describe, expect, it } from "vitest";
import { sourceOfFlag, sourceOfWord } from "../../src/cli/completion-sources.ts";
import { everyCommand } from "../../src/cli/main.ts";
import { settingKeysOf } from "../../src/config/policy-words.ts";
import { POLICY_NAMES } from "../../src/scheduler/policies/registry.ts";
import { CATALOGUE } from "../../src/simulator/catalogue.ts";

const valuesOf = (source: unknown): string[] =>
  (source as readonly (readonly [string, string])[]).map(([value]) => value);

/** What only the person at the keyboard can know. */
const FREE = new Set(
  `host port store url timeout caller since limit lines system deadline lease maxTokens header at in until jobs note
  seeds firstSeed threads from days shadow`.split(/\s+/),
);

describe("the words a shell offers", () => {
  it("has every policy, every setting that one reads, every workload, and nothing else", () => {
    expect(valuesOf(sourceOfFlag("policy")).sort()).toEqual([...POLICY_NAMES].sort());
    expect(valuesOf(sourceOfFlag("set")).sort()).toEqual(
      settingKeysOf(POLICY_NAMES)
        .map((key) => `${key}=`)
        .sort(),
    );
    expect(valuesOf(sourceOfFlag("workload"))).toEqual(CATALOGUE.map(({ name }) => name));
  });

  it("has something for every flag that takes a value, unless nobody can know it", async () => {
    const commands = await everyCommand();
    const silent = commands.flatMap(({ name, args }) =>
      Object.entries(args)
        .filter(([flag, { type }]) => type === "string" && sourceOfFlag(flag) === null && !FREE.has(flag))
        .map(([flag]) => `sir ${name} --${flag}`),
    );

    expect(silent).toEqual([]);
  });

  it("has something for the first word of every command that takes one", async () => {
    const commands = await everyCommand();
    const silent = commands.filter(
      ({ name, args }) =>
        Object.values(args).some(({ type }) => type === "positional") && sourceOfWord(name, []) === null,
    );

    expect(silent.map(({ name }) => name)).toEqual(["submit"]);
  });
});
