// What the day's records say about each of a sample of jobs: why it waited, cut without gap or overlap; its attempts; its
// events; its answer.

import { isFinal, type Job } from "../../src/domain/job.ts";
import { splitLife } from "../../src/explain/partition.ts";
import type { Router, Site } from "./site.ts";

const SAMPLE = 120;
const EVENTS = 1_000;

export async function checkRecords(site: Site, router: Router, jobs: readonly Job[]): Promise<void> {
  const step = Math.max(1, Math.floor(jobs.length / SAMPLE));
  for (let i = 0; i < jobs.length; i += step) {
    const job = jobs[i];
    if (job === undefined || !job.durable) continue;
    await checkSplit(site, router, job);
    await checkEvents(site, router, job);
    await checkAnswer(site, router, job);
  }
}

/** The parts sum to the job's life, and nothing in the queue is unexplained. */
async function checkSplit(site: Site, router: Router, job: Job): Promise<void> {
  const nowMs = site.clock.nowMs();
  const endMs = "finishedAtMs" in job.state ? job.state.finishedAtMs : nowMs;
  const downtimes = await router.store.downtimes(job.acceptedAtMs, endMs);
  const waits = await router.store.waits(job.model, job.acceptedAtMs, endMs);
  const attempts = await router.store.attempts(job.id);
  const split = splitLife({ job, nowMs, attempts, waits, downtimes });
  const sumMs = split.stretches.reduce((sum, part) => sum + part.toMs - part.fromMs, 0);
  if (sumMs !== split.totalMs) {
    site.ledger.violate(nowMs, `${job.id}: its parts sum to ${sumMs} of ${split.totalMs} ms`);
  }
  if (split.doubledMs > 1) site.ledger.violate(nowMs, `${job.id}: ${split.doubledMs} ms have two causes`);
  if (split.unexplainedMs > 1) {
    const at = (ms: number): string => (ms - job.acceptedAtMs).toFixed(1);
    const life = split.stretches.map(({ cause, fromMs, toMs }) => `${cause} ${at(fromMs)}-${at(toMs)}`).join(", ");
    site.ledger.violate(nowMs, `${job.id} (${job.state.status}): ${split.unexplainedMs} ms unexplained in ${life}`);
  }
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
