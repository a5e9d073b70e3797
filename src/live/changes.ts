// What has happened since the last frame, bounded: the newest of each job by who may see it, decisions, spans.

import type { Change, Span } from "../domain/change.ts";
import type { Decision } from "../domain/decision.ts";
import type { RouterEvent } from "../domain/event.ts";
import type { CallerId, JobId } from "../domain/ids.ts";
import type { Job } from "../domain/job.ts";

/** Whose jobs somebody may see: one caller's, or everybody's (null). */
export type Scope = CallerId | null;

const JOBS_MAX = 200;
/** Beyond the jobs that are shown, so many are counted. */
const COUNTED_MAX = 10_000;
const DECISIONS_MAX = 50;
const SPANS_MAX = 500;

export interface ChangedJobs {
  readonly jobs: readonly Job[];
  /** How many more changed. */
  readonly more: number;
}

/** What one frame tells. */
export interface Changes {
  /** The newest of them, oldest first. */
  readonly decisions: readonly Decision[];
  /** As they are now, each once. */
  readonly spans: readonly Span[];
  /** Of anybody who is watched for. */
  readonly anyJob: boolean;
  jobs(scope: Scope): ChangedJobs;
}

class JobsOfScope {
  readonly #jobs = new Map<JobId, Job>();
  readonly #others = new Set<JobId>();

  note(job: Job): void {
    if (this.#jobs.has(job.id) || this.#jobs.size < JOBS_MAX) this.#jobs.set(job.id, job);
    else if (this.#others.size < COUNTED_MAX) this.#others.add(job.id);
  }

  get changed(): ChangedJobs {
    return { jobs: [...this.#jobs.values()], more: this.#others.size };
  }
}

const NO_JOBS: ChangedJobs = { jobs: [], more: 0 };

/** Gathers changes; O(1) for each. */
export class ChangeLog {
  #jobs = new Map<Scope, JobsOfScope>();
  #decisions: Decision[] = [];
  #spans = new Map<string, Span>();

  /** @param watched Only what these see is kept. */
  change(change: Change, watched: ReadonlyMap<Scope, unknown>): void {
    if (change.type === "span") {
      const { device, model, fromMs } = change.span;
      const key = `${device} ${model} ${fromMs}`;
      if (this.#spans.has(key) || this.#spans.size < SPANS_MAX) this.#spans.set(key, change.span);
      return;
    }
    const { job } = change;
    if (watched.has(null)) this.#of(null).note(job);
    if (watched.has(job.caller)) this.#of(job.caller).note(job);
  }

  event(event: RouterEvent): void {
    if (event.type !== "decision") return;
    this.#decisions.push(event.decision);
    if (this.#decisions.length > DECISIONS_MAX) this.#decisions.shift();
  }

  /** All of it, and begins anew. */
  take(): Changes {
    const jobs = this.#jobs;
    const taken: Changes = {
      decisions: this.#decisions,
      spans: [...this.#spans.values()],
      anyJob: jobs.size > 0,
      jobs: (scope) => jobs.get(scope)?.changed ?? NO_JOBS,
    };
    this.#jobs = new Map();
    this.#decisions = [];
    this.#spans = new Map();
    return taken;
  }

  #of(scope: Scope): JobsOfScope {
    const found = this.#jobs.get(scope) ?? new JobsOfScope();
    this.#jobs.set(scope, found);
    return found;
  }
}
