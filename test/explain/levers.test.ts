// What would change a wait: keys that the configuration has, commands that there are, and a replay that can be typed.

import fc from "fast-check";
import { expect, test } from "vitest";
import { COMMANDS } from "../../src/cli/command-list.ts";
import { parseInstant } from "../../src/cli/instant.ts";
import { models } from "../../src/cli/models.ts";
import { parseSettings } from "../../src/config/policy-words.ts";
import { configSchema } from "../../src/config/schema.ts";
import { keysOf as keysAt } from "../../src/config/schema-keys.ts";
import { CAUSES } from "../../src/domain/wait.ts";
import { CAUSE_WORDS, partWords } from "../../src/explain/causes.ts";
import { HOLD_WORDS } from "../../src/explain/hold-words.ts";
import { summaryOf } from "../../src/explain/summary.ts";
import { keysOf, POLICY_NAMES, type PolicyName } from "../../src/scheduler/policies/registry.ts";
import { CREATED_MS, label, life, PARTS, part, RULES, STATES } from "./words.ts";

const LEVERS = [...Object.values(CAUSE_WORDS), ...Object.values(HOLD_WORDS)].flatMap(({ levers }) => levers);
const KEY = /^[a-z]+(\.[*\w]+)+$/;

function isKey(path: string): boolean {
  const words = path.split(".");
  return keysAt(configSchema, words.slice(0, -1)).includes(words.at(-1) ?? "");
}

test("every lever that looks like a key is one of the configuration", () => {
  const ofPolicies = Object.values(HOLD_WORDS).flatMap(({ ofPolicy = {} }) => Object.values(ofPolicy).flat());
  const keys = [...LEVERS, ...ofPolicies].filter((lever) => KEY.test(lever));

  expect(keys.length).toBeGreaterThan(20);
  expect(keys.filter((key) => !isKey(key))).toEqual([]);
});

test("what a policy is said to read, it reads", () => {
  for (const { ofPolicy = {} } of Object.values(HOLD_WORDS)) {
    for (const [policy, levers] of Object.entries(ofPolicy)) {
      const read = keysOf(policy as PolicyName);
      const keys = levers.filter((lever) => lever.startsWith("scheduler.")).map((lever) => lever.slice(10));
      expect(keys.filter((key) => !read.includes(key))).toEqual([]);
    }
  }
});

test("every lever that looks like a command is one, with its verb and its flags", () => {
  const commands = PARTS.flatMap(([, each]) => partWords(each, label).levers).filter((lever) =>
    lever.startsWith("sir "),
  );

  expect(commands.length).toBeGreaterThan(5);
  for (const command of commands) {
    const [, name = "", verb] = command.split(" ");
    expect(Object.keys(COMMANDS)).toContain(name);
    if (name === "models") expect(models.args["verb"]?.description).toContain(verb);
  }
});

test("a replay that is proposed can be typed, for every cause, rule and policy that it is proposed for", () => {
  const proposed = fc.record({
    rule: fc.constantFrom(...RULES),
    cause: fc.constantFrom(...CAUSES),
    ms: fc.integer({ min: 0, max: 900_000_000 }),
    state: fc.constantFrom(STATES.queued, STATES.succeeded),
  });
  fc.assert(
    fc.property(proposed, ({ rule, cause, ms, state }) => {
      const top = part(cause, ms, { rule: cause === "held" ? rule : null });
      const { try: line } = summaryOf(life(state, [top, part("running", 2_000)]), label);
      if (line === null) return;
      const words = line.split(" ");
      const at = (flag: string): string | undefined => words[words.indexOf(flag) + 1];
      const policies = rule === "likely_needed" ? ["stint"] : POLICY_NAMES;
      for (const policy of policies) expect(() => parseSettings([at("--set") ?? ""], [policy])).not.toThrow();
      const fromMs = parseInstant(at("--from") ?? "", "from", CREATED_MS);
      expect(fromMs).toBeLessThan(CREATED_MS);
      if (words.includes("--to"))
        expect(parseInstant(at("--to") ?? "", "to", CREATED_MS)).toBeGreaterThan(CREATED_MS + ms);
    }),
  );
});
