// Settings: what a policy takes from the configuration's flat block, and what it makes of it.

import { expect, test } from "vitest";
import { z } from "zod";
import { bindPolicy, isPolicyName, keysOf, POLICY_NAMES } from "../../src/scheduler/policies/registry.ts";
import { schedulerSettingsShape } from "../../src/scheduler/policies/settings.ts";
import { FOUNDING } from "../../src/scheduler/presets.ts";

test("minimum residency and ceiling belong to model-score, and are off elsewhere unless set", () => {
  const guards = (name: string, raw = {}) => bindPolicy(name, raw).guards;

  expect(guards("model-score")).toEqual({
    minResidencyMs: 30_000,
    maxWaitMs: 120_000,
    switchCostWeight: 1,
    serveBeforeSwap: "residency",
  });
  for (const name of ["fifo", "serial", "longest"]) {
    expect(guards(name)).toMatchObject({ minResidencyMs: null, maxWaitMs: null, serveBeforeSwap: "residency" });
    expect(guards(name, { maxWaitSeconds: 7.5 })).toMatchObject({ minResidencyMs: null, maxWaitMs: 7_500 });
  }
  expect(guards("model-score", { maxWaitSeconds: null }).maxWaitMs).toBeNull();
});

test("a point of priority is worth a minute of waiting, as set, or more than any wait", () => {
  expect(bindPolicy("model-score", {}).ranking.msPerPoint).toBe(60_000);
  expect(bindPolicy("serial", { agingDivisorSeconds: 5 }).ranking.msPerPoint).toBe(5_000);
  expect(bindPolicy("longest", { agingDivisorSeconds: 0 }).ranking.msPerPoint).toBe(1e12);
  expect(bindPolicy("fifo", { agingDivisorSeconds: 5 }).ranking.msPerPoint).toBe(1e12);
});

test("a policy does not look at the keys of others", () => {
  expect(bindPolicy("fifo", { strict: true, ageWeight: "heavy", port: 8000 }).settings).toEqual({
    minResidencySeconds: null,
    maxWaitSeconds: null,
    switchCostWeight: 1,
    serveBeforeSwap: "residency",
    strict: true,
  });
});

test("an unknown policy and a forbidden value are said in words", () => {
  expect(() => bindPolicy("lifo", {})).toThrow(
    'There is no policy "lifo". There are: fifo, serial, model-score, longest, stint.',
  );
  expect(() => bindPolicy("serial", { swapAffinityBonus: 100 })).toThrow(/scheduler\.swapAffinityBonus/);
  expect(() => bindPolicy("model-score", { maxWaitSeconds: 0 })).toThrow(/scheduler\.maxWaitSeconds/);
  expect(isPolicyName("toString")).toBe(false);
});

test("the configuration's shape knows every key of every policy, with a unit and a sentence", () => {
  for (const name of POLICY_NAMES)
    expect(Object.keys(schedulerSettingsShape)).toEqual(expect.arrayContaining([...keysOf(name)]));
  for (const schema of Object.values(schedulerSettingsShape)) {
    expect(schema.unwrap().description).toMatch(/\.$/);
    expect(schema.unwrap().meta()?.["unit"]).toEqual(expect.any(String));
  }
});

test("the shape makes a strict object in which every key is optional", () => {
  const block = z.strictObject({ policy: z.string(), ...schedulerSettingsShape });

  expect(block.parse(FOUNDING)).toEqual(FOUNDING);
  expect(block.parse({ policy: "fifo" })).toEqual({ policy: "fifo" });
  expect(block.safeParse({ policy: "fifo", maxWait: 3 }).success).toBe(false);
});
