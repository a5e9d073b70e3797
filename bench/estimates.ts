// How often the truth lies inside the range that receipts state, and how far the middle is off: every job of a workload
// asks for its estimate as it comes. The workloads are the suite's; time is virtual, so the machine does not matter.
//
//   npx tsx bench/estimates.ts [--seeds N] [--policy a,b] [--of answer|start]

import { parseArgs } from "node:util";
import type { RouterEvent } from "../src/domain/event.ts";
import { homelab } from "../src/simulator/homelab.ts";
import { poissonMix } from "../src/simulator/mixes.ts";
import { replay } from "../src/simulator/replay.ts";
import type { Workload } from "../src/simulator/workload.ts";

type Scored = Extract<RouterEvent, { readonly type: "job.estimated" }>;

const WORKLOADS: Readonly<Record<string, (seed: number) => Workload>> = {
  homelab: (seed) => homelab({ seed, hours: 48, times: 1 }),
  "homelab-x3": (seed) => homelab({ seed, hours: 48, times: 3 }),
  "poisson-0.3": (seed) => poissonMix({ seed, load: 0.3, hours: 6 }),
  "poisson-0.5": (seed) => poissonMix({ seed, load: 0.5, hours: 6 }),
  "poisson-0.8": (seed) => poissonMix({ seed, load: 0.8, hours: 6 }),
  "overload-1.2": (seed) => poissonMix({ seed, load: 1.2, hours: 4 }),
};

const { values } = parseArgs({
  options: {
    seeds: { type: "string", default: "2" },
    policy: { type: "string", default: "stint,model-score,longest" },
    of: { type: "string", default: "answer" },
  },
});

console.log(
  "| workload | policy | jobs judged | inside the range | median error | p90 error | interactive | normal | batch |",
);
console.log("|---|---|--:|--:|--:|--:|--:|--:|--:|");
for (const [name, of] of Object.entries(WORKLOADS)) {
  for (const policy of values.policy.split(",")) {
    const scored: Scored[] = [];
    const hear = (event: RouterEvent): void => {
      if (event.type === "job.estimated" && event.of === values.of) scored.push(event);
    };
    const ceiling = policy === "model-score" ? { minResidencySeconds: 300, maxWaitSeconds: 3600 } : {};
    const settings = { title: policy, scheduler: { policy, ...ceiling }, lean: true, unchecked: true, asks: true };
    for (let seed = 1; seed <= Number(values.seeds); seed++) {
      await replay(of(seed), settings, { hear, patienceMs: 12 * 3_600_000 });
    }
    console.log(`| ${name} | ${policy} | ${rowOf(scored)} |`);
  }
}

function rowOf(scored: readonly Scored[]): string {
  const judged = scored.filter(({ hit }) => hit !== null);
  const errors = judged
    .map(({ actualMs, estimatedMs }) => Math.abs(actualMs - estimatedMs) / Math.max(1, actualMs))
    .sort((a, b) => a - b);
  const at = (share: number): string => percent(errors[Math.floor(share * (errors.length - 1))] ?? 0);
  const bands = (["interactive", "normal", "batch"] as const).map((band) =>
    hits(judged.filter((each) => each.band === band)),
  );
  return [judged.length, hits(judged), at(0.5), at(0.9), ...bands].join(" | ");
}

function hits(judged: readonly Scored[]): string {
  return judged.length === 0 ? "-" : percent(judged.filter(({ hit }) => hit).length / judged.length);
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}
