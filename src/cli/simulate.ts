// `sir simulate`: made and recorded workloads in virtual time, through the very engine that serves.

import { defineSirCommand } from "./command.ts";

export const simulate = defineSirCommand({
  name: "simulate",
  summary: "Run workloads through the scheduler in virtual time and compare waits, swaps and loads.",
  examples: [
    ["sir simulate essay", "two models, one device: the founding rule, and the live rule beside it"],
    ["sir simulate suite --seeds 1", "every policy on every workload"],
    ["sir simulate homelab,poisson-0.5 --policy longest,stint", "two of each"],
    ["sir simulate monday.jsonl --policy fifo,serial --json", "a trace of your own, as rows"],
    ["sir simulate list", "what there is"],
  ],
  args: {
    what: { type: "positional", required: true, description: "suite, list, names or trace files, by commas." },
    policy: { type: "string", description: "Policies or variants, by commas; `list` names them." },
    workload: { type: "string", description: "For suite: only these, by commas." },
    seeds: { type: "string", description: "How many seeds, from 1; default 8." },
    firstSeed: { type: "string", description: "The first of them; default 1." },
    threads: { type: "string", description: "Runs at once; default: one for each processor." },
  },
  run: async (args, io) => (await import("./simulate-run.ts")).run(args, io),
});
