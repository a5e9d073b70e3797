// The runs that `sir simulate` knows by name: the founding scenarios under the founding rule, and beside them what the
// live rule makes of the same arrivals.

import { FOUNDING } from "../scheduler/presets.ts";
import type { SimulationSettings } from "./assembly.ts";
import { replay } from "./replay.ts";
import { type RunReport, reportLines, reportOf } from "./report.ts";
import type { Rounding } from "./rounding.ts";
import { SCENARIOS, type ScenarioName } from "./scenarios.ts";
import type { Workload } from "./workload.ts";

/** The founding essay's rule: the cost is always charged, and passes come at arrivals, load ends and every 0.25 s only. */
export function founding(minResidencySeconds: number): SimulationSettings {
  return {
    title: `min_residency ${minResidencySeconds}`,
    scheduler: { ...FOUNDING, minResidencySeconds },
    passes: { mode: "ticks", everyMs: 250 },
  };
}

/** The same numbers under the rule as it is served. */
export function live(minResidencySeconds: number): SimulationSettings {
  return {
    title: `the live rule, min_residency ${minResidencySeconds}`,
    scheduler: { policy: "model-score", maxWaitSeconds: 120, minResidencySeconds },
  };
}

const ALL_POLICIES: readonly SimulationSettings[] = [
  { title: "model-score", scheduler: { policy: "model-score" } },
  { title: "longest", scheduler: { policy: "longest" } },
  { title: "serial", scheduler: { policy: "serial" } },
  { title: "fifo", scheduler: { policy: "fifo" } },
  { title: "fifo, strict", scheduler: { policy: "fifo", strict: true } },
];

const RUNS: Readonly<Record<ScenarioName, readonly SimulationSettings[]>> = {
  essay: [founding(0), { ...founding(30), title: "min_residency 30 (as shipped)" }, live(0), live(30)],
  rare: [founding(30), live(30)],
  bursts: [founding(30), live(30)],
  three: [founding(30), live(30)],
  collation: ALL_POLICIES,
};

export function isPreset(name: string): name is ScenarioName {
  return name in SCENARIOS;
}

export interface Simulated {
  /** For people: a heading and the essay's lines for each run. */
  readonly text: string;
  /** For machines; print it as JSON. */
  readonly reports: readonly RunReport[];
}

/** @param settings Instead of the preset's own runs. */
export function runPreset(
  name: ScenarioName,
  settings: readonly SimulationSettings[] = RUNS[name],
): Promise<Simulated> {
  return simulate(SCENARIOS[name], settings, "half-even");
}

/** One workload under each of the settings, one after the other. @throws {ConfigError} when settings are refused */
export async function simulate(
  workload: Workload,
  settings: readonly SimulationSettings[],
  rounding: Rounding,
): Promise<Simulated> {
  const reports: RunReport[] = [];
  const lines: string[] = [];
  for (const each of settings) {
    const report = reportOf(await replay(workload, each), rounding);
    reports.push(report);
    lines.push(each.title, ...reportLines(report, rounding));
  }
  return { text: `${lines.join("\n")}\n`, reports };
}
