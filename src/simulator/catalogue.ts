// The workloads that have a name. Each is made from a seed, so that a run can be repeated and a comparison be paired.

import { join } from "node:path";
import { adversary, livelock } from "./adversary.ts";
import { homelab } from "./homelab.ts";
import { poissonMix } from "./mixes.ts";
import { azureAndMooncake, missingTraces, servegen } from "./recorded.ts";
import { SCENARIOS } from "./scenarios.ts";
import type { Workload } from "./workload.ts";

export interface Named {
  readonly name: string;
  /** One line for the list. */
  readonly about: string;
  /** Part of `suite` unless others are asked for. */
  readonly inSuite: boolean;
  /** False: nothing is drawn, so that all seeds are one. */
  readonly drawn: boolean;
  /** Needs the recorded traces. */
  readonly recorded: boolean;
  make(seed: number, tracesFolder: string): Workload;
}

interface Facts {
  readonly inSuite?: boolean;
  readonly drawn?: boolean;
  readonly recorded?: boolean;
}

const named = (name: string, about: string, make: Named["make"], facts: Facts = {}): Named => ({
  name,
  about,
  inSuite: true,
  drawn: true,
  recorded: false,
  ...facts,
  make: (seed, folder) => ({ ...make(seed, folder), name }),
});

const ONE_CARD = [{ name: "gpu0", memoryGiB: 80 }];

export const CATALOGUE: readonly Named[] = [
  named("essay", "two models in turns, every 3 s", () => SCENARIOS.essay, { drawn: false }),
  named("homelab", "six services of one household, 48 h", (seed) => homelab({ seed, hours: 48, times: 1 })),
  named("homelab-x3", "the same with three times the traffic", (seed) => homelab({ seed, hours: 48, times: 3 })),
  named("poisson-0.3", "four models, steady, 30 % of the work the device can do, 6 h", mix(0.3, 6)),
  named("poisson-0.5", "the same at 50 %", mix(0.5, 6)),
  named("poisson-0.8", "the same at 80 %", mix(0.8, 6)),
  named("overload-1.2", "the same at 120 % for 4 h, then what is left", mix(1.2, 4)),
  named("adversary", "asks for the other model right after each load, 8 h", (seed) => adversary(seed)),
  named(
    "azure",
    "an hour of Azure's coding and conversation services, thinned",
    (seed, folder) => azureAndMooncake(folder, { seed, fromMinute: 0, toMinute: 58, agents: false }),
    { recorded: true },
  ),
  named(
    "mooncake",
    "the same hour with Mooncake's long-context agents on top",
    (seed, folder) => azureAndMooncake(folder, { seed, fromMinute: 0, toMinute: 58 }),
    { recorded: true },
  ),
  named(
    "servegen",
    "fifteen services over three recorded days, thinned",
    (seed, folder) => servegen(folder, { seed, fromDay: seed % 10, days: 3, jobsPerDay: 90 }),
    { recorded: true },
  ),
  named(
    "homelab-packed",
    "homelab on a card of 80 GiB that holds several models at once",
    (seed) => ({ ...homelab({ seed, hours: 48, times: 1 }), devices: ONE_CARD }),
    { inSuite: false },
  ),
  named("livelock", "ten jobs for two models, each load longer than the founding ceiling", livelock, {
    inSuite: false,
    drawn: false,
  }),
  ...(["rare", "bursts", "three", "collation"] as const).map((name) =>
    named(name, SCENARIOS[name].source, () => SCENARIOS[name], { inSuite: false, drawn: false }),
  ),
];

function mix(load: number, hours: number): Named["make"] {
  return (seed) => poissonMix({ seed, load, hours });
}

export function workloadNamed(name: string): Named | null {
  return CATALOGUE.find((each) => each.name === name) ?? null;
}

/** The files that a workload needs and the folder lacks, as paths; empty: it can be made. */
export function missingFor({ recorded }: Named, tracesFolder: string): readonly string[] {
  return recorded ? missingTraces(tracesFolder).map((file) => join(tracesFolder, file)) : [];
}
