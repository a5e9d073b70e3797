// Why each job waited, cut from the records: the parts sum to its life, and nothing in the queue is unexplained.

import type { Job } from "../../src/domain/job.ts";
import { splitLife } from "../../src/simulator/wait-split.ts";
import type { Router, Site } from "./site.ts";

const SAMPLE = 120;

export async function checkPartitions(site: Site, router: Router, jobs: readonly Job[]): Promise<void> {
  const step = Math.max(1, Math.floor(jobs.length / SAMPLE));
  const downtimes = await router.store.downtimes(site.startMs, site.clock.nowMs());
  for (let i = 0; i < jobs.length; i += step) {
    const job = jobs[i];
    if (job === undefined || !job.durable) continue;
    const endMs = "finishedAtMs" in job.state ? job.state.finishedAtMs : site.clock.nowMs();
    const waits = await router.store.waits(job.model, job.acceptedAtMs, endMs);
    const attempts = await router.store.attempts(job.id);
    const split = splitLife({ job, nowMs: site.clock.nowMs(), attempts, waits, downtimes });
    const sumMs = split.parts.reduce((sum, part) => sum + part.toMs - part.fromMs, 0);
    if (Math.abs(sumMs - split.totalMs) > 0.01) {
      site.ledger.violate(site.clock.nowMs(), `${job.id}: its parts sum to ${sumMs} of ${split.totalMs} ms`);
    }
    if (split.doubledMs > 0.01)
      site.ledger.violate(site.clock.nowMs(), `${job.id}: ${split.doubledMs} ms have two causes`);
    if (split.unexplainedMs > 1) {
      const life = split.parts.map(
        (part) => `${part.cause} ${part.fromMs - job.acceptedAtMs}-${part.toMs - job.acceptedAtMs}`,
      );
      site.ledger.violate(
        site.clock.nowMs(),
        `${job.id} (${job.state.status}): ${split.unexplainedMs} ms unexplained in ${life.join(", ")}`,
      );
    }
  }
}
