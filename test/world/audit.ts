// What must hold at any quiet instant, checked against the store, the engine's memory and the hardware together.
// The numbers are those of the invariants in the store's design.

import type { JobId } from "../../src/domain/ids.ts";
import { isFinal, type Job } from "../../src/domain/job.ts";
import { Memory } from "./explained.ts";
import type { Router, Site } from "./site.ts";

const PAGE = 500;
/** Sweep, commit and abort: how late an end may be. */
const SLACK_MS = 3_000;

/** Explanations looked at in one audit. */
const LOOKS = 40;

export const MAX_ATTEMPTS = 3;
export const MAX_INTERRUPTIONS = 10;

export class Auditor {
  readonly #site: Site;
  readonly #epochs = new Map<JobId, number>();
  readonly #finals = new Map<JobId, string>();
  audits = 0;

  constructor(site: Site) {
    this.#site = site;
  }

  /** Does nothing while the router is down. */
  async audit(): Promise<readonly Job[]> {
    const { router } = this.#site;
    if (router === null) return [];
    this.audits++;
    const jobs = await allJobs(router);
    if (router.mortal.dead) return [];
    const byId = new Map(jobs.map((job) => [job.id, job]));
    this.#accepted(byId);
    for (const job of jobs) this.#row(job, router);
    this.#counters(jobs, router);
    await this.#calls(jobs, router);
    await this.#decisions(jobs, router);
    await this.#explanations(jobs, router);
    return jobs;
  }

  /** 1: what a caller was told exists. */
  #accepted(byId: ReadonlyMap<JobId, Job>): void {
    for (const entry of this.#site.ledger.entries) {
      if (entry.id === null || !entry.acknowledged || !entry.durable) continue;
      const job = byId.get(entry.id);
      if (job === undefined) this.#violate(`${entry.id} was accepted and is not stored`);
      else this.#site.saw(entry, job);
    }
  }

  /** 4, 5, 7, 9, 10, 11, 13: what holds for each row. */
  #row(job: Job, router: Router): void {
    const { state } = job;
    const epoch = this.#epochs.get(job.id) ?? 0;
    if (job.epoch < epoch) this.#violate(`${job.id} goes back from epoch ${epoch} to ${job.epoch}`);
    this.#epochs.set(job.id, job.epoch);
    if (job.attempts > MAX_ATTEMPTS) this.#violate(`${job.id} has ${job.attempts} attempts`);
    if (job.interruptions > MAX_INTERRUPTIONS) this.#violate(`${job.id} has ${job.interruptions} interruptions`);
    if (isFinal(state.status)) {
      const text = JSON.stringify(state);
      const before = this.#finals.get(job.id);
      if (before !== undefined && before !== text) this.#violate(`${job.id} was ${before} and is ${text}`);
      this.#finals.set(job.id, text);
      return;
    }
    if (this.#finals.has(job.id)) this.#violate(`${job.id} was final and is ${state.status}`);
    if (state.status === "running" && state.owner !== router.owner) {
      this.#violate(`${job.id} is running under ${state.owner}, which is dead`);
    }
    this.#overdue(job, router);
  }

  /** 13: whom nobody asks for is cancelled in time; a deadline is kept. */
  #overdue(job: Job, router: Router): void {
    const nowMs = this.#site.clock.nowMs();
    const entry = this.#site.ledger.byId.get(job.id);
    if (job.deadlineAtMs !== null && nowMs > Math.max(job.deadlineAtMs, router.startedAtMs) + SLACK_MS) {
      this.#violate(`${job.id} is ${job.state.status}, ${nowMs - job.deadlineAtMs} ms after its deadline`);
    }
    if (entry?.held === true || job.leaseMs === null) return;
    const signMs = Math.max(job.acceptedAtMs, entry?.triedAtMs ?? 0, router.startedAtMs);
    const interestMs = Math.max(job.leaseMs, entry?.interestMs ?? 0);
    if (nowMs > signMs + interestMs + SLACK_MS) {
      this.#violate(
        `${job.id} is ${job.state.status}, unpolled for ${nowMs - signMs} ms with a lease of ${job.leaseMs} ms`,
      );
    }
  }

  /** 10, 20: memory and store agree. */
  #counters(jobs: readonly Job[], router: Router): void {
    const queued = jobs.filter((job) => job.state.status === "queued").length;
    const running = jobs.filter((job) => job.state.status === "running").length;
    const status = router.engine.status();
    // Those that back off, or whose caller has gone, are no demand and not counted there.
    if (status.queued > queued) this.#violate(`${status.queued} queued in memory, ${queued} in the store`);
    // An interrupted attempt whose engine does not let go has left its slot and is not queued yet.
    const deaf = this.#site.hardware.deafCalls();
    const total = router.engine.queue.queuedTotal();
    if (total < queued || total > queued + deaf) {
      this.#violate(`queuedTotal is ${total}, ${queued} are queued in the store`);
    }
    if (status.running + deaf < running) {
      this.#violate(`${running} running in the store, ${status.running} in the executor`);
    }
  }

  /** 8, 13: every open call belongs to a running job, or was aborted. */
  async #calls(jobs: readonly Job[], router: Router): Promise<void> {
    const { hardware, ledger, clock } = this.#site;
    const byTag = new Map<string, Job[]>();
    for (const job of jobs) {
      const tag = ledger.byId.get(job.id)?.plan.tag;
      if (tag !== undefined) byTag.set(tag, [...(byTag.get(tag) ?? []), job]);
    }
    for (const call of hardware.calls) {
      const wanted = byTag.get(call.tag);
      if (wanted === undefined || call.abortedAtMs !== null || wanted.some((job) => !isFinal(job.state.status)))
        continue;
      const endedAtMs = Math.max(...wanted.map(({ state }) => ("finishedAtMs" in state ? state.finishedAtMs : 0)));
      if (clock.nowMs() > endedAtMs + 1_000) this.#violate(`${call.tag} is over and its engine still works on it`);
    }
    for (const [tag, made] of byTag) {
      const calls = hardware.callCounts.get(tag) ?? 0;
      const allowed = made.reduce((sum, job) => sum + job.attempts + job.interruptions, 0);
      if (calls <= allowed || made.some(({ durable }) => !durable)) continue;
      // What a restart in good order interrupts is charged to nobody, but written down.
      let written = 0;
      for (const { id } of made) written += (await router.store.attempts(id)).length;
      if (calls > written || calls > allowed + this.#site.stopsBegun) {
        this.#violate(`${tag} made ${calls} calls with ${allowed} attempts and interruptions and ${written} on record`);
      }
    }
  }

  /** 21: every dispatch has its decision. */
  async #decisions(jobs: readonly Job[], router: Router): Promise<void> {
    const seen = new Set<string>();
    for (const { id, state, dispatch } of jobs) {
      const ran = state.status === "running" || state.status === "succeeded";
      if (!ran) continue;
      if (dispatch?.decision == null) {
        this.#violate(`${id} was dispatched without a decision`);
        continue;
      }
      if (seen.has(dispatch.decision) || this.#known.has(dispatch.decision)) continue;
      seen.add(dispatch.decision);
      const decision = await router.store.decision(dispatch.decision);
      if (decision === null) this.#violate(`${id} names the decision ${dispatch.decision}, which is not stored`);
      else this.#known.add(dispatch.decision);
    }
  }

  /** An explanation of a live job only grows. */
  async #explanations(jobs: readonly Job[], router: Router): Promise<void> {
    const live = jobs.filter(({ id, state }) => !isFinal(state.status) || this.#told.knows(id)).slice(0, LOOKS);
    if (live.length === 0 || (await this.#site.call(({ store }) => store.ping())).kind !== "ok") return;
    const nowMs = this.#site.clock.nowMs();
    for (const job of live) {
      const fault = await this.#told.grown(router.store, job, nowMs);
      if (fault !== null) this.#violate(`${job.id} (${job.state.status}) ${fault}`);
    }
  }

  readonly #told = new Memory();
  readonly #known = new Set<string>();

  #violate(what: string): void {
    this.#site.ledger.violate(this.#site.clock.nowMs(), what);
  }
}

export async function allJobs(router: Router): Promise<Job[]> {
  const found: Job[] = [];
  let after: JobId | undefined;
  for (;;) {
    const page = await router.store.jobs({
      caller: null,
      order: "oldest",
      limit: PAGE,
      ...(after === undefined ? {} : { after }),
    });
    found.push(...page.data);
    after = page.data.at(-1)?.id;
    if (!page.hasMore || after === undefined) return found;
  }
}
