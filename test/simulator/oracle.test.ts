// The live engine against an independent simulator written for the scheduling study: same arrivals, same rule.

import { describe, expect, it } from "vitest";
import type { SimulationSettings } from "../../src/simulator/assembly.ts";
import { replay } from "../../src/simulator/replay.ts";
import { scoreOf } from "../../src/simulator/score.ts";
import { readTrace, writeTrace } from "../../src/simulator/trace.ts";
import { evened, openReference, type Reference, referenceFolder, type Scenario, workloadOf } from "./reference.ts";

const reference = await openReference();
const absent = `the independent simulator is not here (${referenceFolder}); set SIR_REFERENCE to its folder`;
if (reference === null) process.stderr.write(`\nSKIPPED: ${absent}\n`);

interface Rule {
  readonly name: string;
  readonly theirs: (policies: Reference["policies"]) => unknown;
  readonly ours: SimulationSettings["scheduler"];
  /** Theirs knows no bands. */
  readonly blind: boolean;
  /** Theirs knows no priority of models. */
  readonly equal: boolean;
}

const RULES: readonly Rule[] = [
  { name: "fifo, collating", theirs: (of) => of.fifoCollate(), ours: { policy: "fifo" }, blind: true, equal: true },
  { name: "fifo, strict", theirs: (of) => of.fifo(), ours: { policy: "fifo", strict: true }, blind: true, equal: true },
  { name: "longest", theirs: (of) => of.elq(), ours: { policy: "longest" }, blind: true, equal: true },
  {
    name: "serial",
    theirs: (of) => of.serial(),
    ours: { policy: "serial", serveBeforeSwap: false },
    blind: false,
    equal: true,
  },
  {
    name: "serial, one job at a time",
    theirs: (of) => of.serial({ literal: true }),
    ours: { policy: "serial", batch: false, serveBeforeSwap: false },
    blind: false,
    equal: true,
  },
  {
    name: "model-score that serves before it swaps",
    theirs: (of) => of.sir({ minRes: 300, maxWait: 3_600, fix: true }),
    ours: {
      policy: "model-score",
      minResidencySeconds: 300,
      maxWaitSeconds: 3_600,
      serveBeforeSwap: "once",
      idleLapse: false,
    },
    blind: true,
    equal: false,
  },
  { name: "stint", theirs: (of) => of.stint(), ours: { policy: "stint" }, blind: false, equal: false },
];

const SCENARIOS: Readonly<Record<string, (of: Reference) => Scenario>> = {
  "half a day of a homelab": ({ scenarios }) => scenarios.homelab({ seed: 1, hours: 13 }),
  "an hour and a half of four models at half load": ({ scenarios }) =>
    scenarios.poisson({ seed: 1, rho: 0.5, hours: 1.5 }),
};

describe.each(Object.keys(SCENARIOS))("on the reference's own arrivals, %s,", (name) => {
  it.for(RULES)("$name swaps as often and lets jobs wait as long", async ({ theirs, ours, blind, equal }, context) => {
    if (reference === null) return context.skip(absent);
    const scenario = evened(SCENARIOS[name]?.(reference) ?? { models: [], jobs: [] });
    const verdict = reference.judge(scenario, theirs(reference.policies));

    const workload = readTrace(writeTrace(workloadOf(scenario, equal)));
    const settings = { title: "", scheduler: ours, lean: true, unchecked: true, blind };
    const score = scoreOf(await replay(workload, settings, { patienceMs: 12 * 3_600_000 }));

    expect(score.jobs).toBeGreaterThan(1_000);
    expect({ swaps: score.swaps, unserved: score.unserved }).toEqual({
      swaps: verdict.swaps,
      unserved: verdict.unserved,
    });
    expect(Math.abs(score.meanWaitSeconds / verdict.mean - 1)).toBeLessThan(0.01);
    expect(Math.abs(score.weightedMeanWaitSeconds / verdict.wmean - 1)).toBeLessThan(0.01);
    expect(Math.abs(score.loadingSeconds / verdict.loading - 1)).toBeLessThan(0.01);
  });
});
