// One seed, one simulated day: a storm of callers, faults and kills for 22 hours, then two calm ones in which everything
// must come to its end.

import { isFinal, type Job } from "../../src/domain/job.ts";
import { createSeeded } from "../../src/simulator/seeded.ts";
import { Auditor, allJobs } from "./audit.ts";
import { walk } from "./callers.ts";
import { dayFacts, MINUTE_MS } from "./facts.ts";
import { plansOf, STORM_MS } from "./plans.ts";
import type { Plant } from "./planted.ts";
import { checkRecords } from "./records.ts";
import { Site } from "./site.ts";

export interface DayReport {
  readonly seed: number;
  readonly violations: readonly string[];
  readonly jobs: number;
  readonly polls: number;
  readonly kills: number;
  readonly stops: number;
  readonly audits: number;
  /** How many jobs ended how: `succeeded`, `failed poison`, `cancelled client`, … */
  readonly endings: Readonly<Record<string, number>>;
}

const AUDIT_EVERY_MS = 20 * MINUTE_MS;
/** How long after the storm the last accepted job may become final. */
const LIVENESS_MS = 100 * MINUTE_MS;
/** More would only repeat the first. */
const MAX_VIOLATIONS = 10;

export async function runDay(seed: number, plant: Plant | null = null): Promise<DayReport> {
  const facts = dayFacts(seed);
  const site = new Site(facts, plant);
  const { clock, ledger, startMs } = site;
  const auditor = new Auditor(site);
  const plans = plansOf(facts);
  const walks = plans.map((plan) => walk(site, plan));
  site.start();
  const fate = createSeeded(seed).fork("day");
  for (let i = 0; i < facts.kills; i++) {
    // Most while there is something to lose.
    const busyMs = fate.pick(plans).atMs + fate.exponential(20_000);
    clock.at(startMs + (fate.chance(0.8) ? busyMs : fate.uniform(0, STORM_MS)), () => site.kill());
  }
  for (let i = 0; i < facts.stops; i++) {
    clock.at(startMs + fate.pick(plans).atMs + fate.exponential(20_000), () => void site.stop());
  }
  for (let i = 0; i < facts.wallJumps; i++) {
    clock.at(startMs + fate.uniform(0, STORM_MS), () => clock.jumpWall(fate.uniform(-2, 2) * 3_600_000));
  }
  const failed = (): boolean =>
    ledger.violations.length + site.hardware.violations.length >= (plant === null ? MAX_VIOLATIONS : 1);
  for (let atMs = AUDIT_EVERY_MS; atMs <= STORM_MS && !failed(); atMs += AUDIT_EVERY_MS) {
    // Right after a restart is when most can be wrong.
    while (await clock.runWhile(() => !site.takeRestart(), startMs + atMs)) await auditor.audit();
    await clock.runUntil(startMs + atMs);
    await auditor.audit();
  }
  site.hardware.stormy = false;
  const jobs = failed() ? [] : await calm(site, auditor, walks);
  site.close();
  const endings: Record<string, number> = {};
  for (const { state } of jobs) {
    const why =
      state.status === "failed" ? ` ${state.error.code}` : state.status === "cancelled" ? ` ${state.reason}` : "";
    endings[state.status + why] = (endings[state.status + why] ?? 0) + 1;
  }
  return {
    seed,
    violations: [...ledger.violations, ...site.hardware.violations],
    jobs: jobs.length,
    polls: ledger.counts.polls,
    kills: site.kills,
    stops: site.stops,
    audits: auditor.audits,
    endings,
  };
}

/** No more faults: every accepted job becomes final, and every caller gets to its end. */
async function calm(site: Site, auditor: Auditor, walks: readonly Promise<void>[]): Promise<readonly Job[]> {
  const { clock, ledger, startMs } = site;
  let over = false;
  void Promise.all(walks).then(() => {
    over = true;
  });
  const limitMs = startMs + STORM_MS + LIVENESS_MS;
  await clock.runUntil(startMs + STORM_MS + 10 * MINUTE_MS);
  await auditor.audit();
  const { router } = site;
  if (router === null) {
    ledger.violate(clock.nowMs(), "the router is not up ten minutes after the last fault");
    return [];
  }
  const busy = (): boolean => !over || router.engine.status().queued + router.engine.status().running > 0;
  await clock.runWhile(busy, limitMs);
  await auditor.audit();
  const jobs = await allJobs(router);
  for (const job of jobs) {
    if (!isFinal(job.state.status)) ledger.violate(clock.nowMs(), `${job.id} is ${job.state.status} and never ends`);
  }
  for (const entry of ledger.entries) {
    if (!entry.over)
      ledger.violate(clock.nowMs(), `${entry.plan.tag} (${entry.plan.behaviour}) still waits for ${entry.id}`);
  }
  await checkRecords(site, router, jobs);
  return jobs;
}
