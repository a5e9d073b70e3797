// How often the truth lies inside the range that receipts state, and how far the middle is off: every job of a workload
// asks for its estimate as it comes. The workloads are the suite's; time is virtual, so the machine does not matter.
//
//   npx tsx bench/estimates.ts [--first SEED] [--seeds N] [--policy a,b] [--workload a,b] [--of answer|start] [--traces FOLDER]

import { parseArgs } from "node:util";
import type { RouterEvent } from "../src/domain/event.ts";
import { missingFor, workloadNamed } from "../src/simulator/catalogue.ts";
import { replay } from "../src/simulator/replay.ts";

type Scored = Extract<RouterEvent, { readonly type: "job.estimated" }>;

const MADE = "homelab,homelab-x3,poisson-0.3,poisson-0.5,poisson-0.8,overload-1.2";

const { values } = parseArgs({
  options: {
    first: { type: "string", default: "1" },
    seeds: { type: "string", default: "2" },
    workload: { type: "string", default: MADE },
    traces: { type: "string", default: "traces" },
    policy: { type: "string", default: "stint,model-score,longest" },
    of: { type: "string", default: "answer" },
  },
});

console.log(
  "| workload | policy | jobs judged | inside the range | median error | p90 error | interactive | normal | batch |",
);
console.log("|---|---|--:|--:|--:|--:|--:|--:|--:|");
for (const name of values.workload.split(",")) {
  const named = workloadNamed(name);
  if (named === null) throw new Error(`there is no workload "${name}"`);
  const missing = missingFor(named, values.traces);
  if (missing.length > 0) throw new Error(`${name} needs ${missing.join(", ")}; --traces names their folder`);
  for (const policy of values.policy.split(",")) {
    const scored: Scored[] = [];
    const hear = (event: RouterEvent): void => {
      if (event.type === "job.estimated" && event.of === values.of) scored.push(event);
    };
    const ceiling = policy === "model-score" ? { minResidencySeconds: 300, maxWaitSeconds: 3600 } : {};
    const settings = { title: policy, scheduler: { policy, ...ceiling }, lean: true, unchecked: true, asks: true };
    const first = Number(values.first);
    for (let seed = first; seed < first + Number(values.seeds); seed++) {
      await replay(named.make(seed, values.traces), settings, { hear, patienceMs: 12 * 3_600_000 });
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
