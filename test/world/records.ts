// What the day's records say: of every job why it waited, cut without gap or overlap; of a sample its events and its
// answer.

import { isFinal, type Job } from "../../src/domain/job.ts";
import { faultsOf } from "./explained.ts";
import type { Router, Site } from "./site.ts";

const SAMPLE = 120;
const EVENTS = 1_000;

export async function checkRecords(site: Site, router: Router, jobs: readonly Job[]): Promise<void> {
  const step = Math.max(1, Math.floor(jobs.length / SAMPLE));
  for (const [i, job] of jobs.entries()) {
    await checkSplit(site, router, job);
    if (i % step !== 0 || !job.durable) continue;
    await checkEvents(site, router, job);
    await checkAnswer(site, router, job);
  }
}

/** Where its time went: see explained.ts; and no attempt is left open. */
async function checkSplit(site: Site, router: Router, job: Job): Promise<void> {
  const nowMs = site.clock.nowMs();
  for (const fault of await faultsOf(router.store, job, nowMs)) {
    site.ledger.violate(nowMs, `${job.id} (${job.state.status}) ${fault}`);
  }
  const attempts = await router.store.attempts(job.id);
  const open = attempts.filter(({ endedAtMs }) => endedAtMs === null).length;
  if (open > 0) site.ledger.violate(nowMs, `${job.id} is ${job.state.status} and ${open} of its attempts have no end`);
}

/** 21: one final event, the last one, and it says how the job ended. */
async function checkEvents(site: Site, router: Router, job: Job): Promise<void> {
  const events = await router.store.eventsAfter(job.id, null, EVENTS);
  const types = events.map(({ type }) => type);
  const expected = job.state.status === "succeeded" ? "completed" : job.state.status;
  const finals = types.filter((type) => type !== "queued" && type !== "started" && type !== "requeued");
  if (types[0] !== "queued" || types.at(-1) !== expected || finals.length !== (isFinal(job.state.status) ? 1 : 0)) {
    site.ledger.violate(site.clock.nowMs(), `${job.id} is ${job.state.status} and its events are ${types.join(", ")}`);
  }
}

/** 5: who succeeded has an answer; who was cancelled or expired has none. */
async function checkAnswer(site: Site, router: Router, job: Job): Promise<void> {
  const result = await router.store.result(job.id);
  const { status } = job.state;
  const entry = site.ledger.byId.get(job.id);
  if (status === "succeeded") {
    if (result === null) site.ledger.violate(site.clock.nowMs(), `${job.id} succeeded and has no answer`);
    else if (entry !== undefined) site.checkAnswer(entry, result.body);
  } else if (result !== null && status !== "failed") {
    site.ledger.violate(site.clock.nowMs(), `${job.id} is ${status} and has an answer`);
  }
}
