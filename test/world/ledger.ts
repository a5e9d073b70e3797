// What the callers of a day know: what they sent, what they were told, and when they last showed interest.

import type { JobId } from "../../src/domain/ids.ts";
import type { Job } from "../../src/domain/job.ts";

export type Behaviour = "patient" | "long_poll" | "abandon" | "cancel" | "sync" | "sync_drop";

export interface Plan {
  /** In the body, so that engines know whose call they have. */
  readonly tag: string;
  readonly atMs: number;
  readonly model: string;
  readonly behaviour: Behaviour;
  readonly stream: boolean;
  readonly key: string | null;
  readonly priority: number;
  readonly leaseMs: number;
  readonly deadlineMs: number | null;
  readonly pollEveryMs: number;
  /** When it abandons, cancels or drops its socket, from acceptance. */
  readonly patienceMs: number;
  /** Sends the same key again so long after acceptance. */
  readonly repeatAfterMs: number | null;
}

export interface Entry {
  readonly plan: Plan;
  id: JobId | null;
  /** The receipt (or a replay of it) reached the caller. */
  acknowledged: boolean;
  /** Survives its router: async or with a key. */
  readonly durable: boolean;
  /** Earliest last sign of life that the router must have had, and the latest that it may have had. */
  heardAtMs: number;
  triedAtMs: number;
  /** How long the job outlives the last sign of life. */
  interestMs: number;
  /** A socket holds the job. */
  held: boolean;
  /** The first final state seen. */
  final: Job | null;
  answer: Uint8Array | null;
  over: boolean;
}

export class Ledger {
  readonly entries: Entry[] = [];
  readonly byId = new Map<JobId, Entry>();
  readonly violations: string[] = [];
  readonly counts = { submitted: 0, refused: 0, polls: 0, cut: 0, replays: 0 };

  open(plan: Plan): Entry {
    const entry: Entry = {
      plan,
      id: null,
      acknowledged: false,
      durable: plan.key !== null || !plan.behaviour.startsWith("sync"),
      heardAtMs: 0,
      triedAtMs: 0,
      interestMs: plan.leaseMs,
      held: false,
      final: null,
      answer: null,
      over: false,
    };
    this.entries.push(entry);
    return entry;
  }

  violate(atMs: number, what: string): void {
    this.violations.push(`${atMs}: ${what}`);
  }

  /** A receipt with this id reached the caller. */
  acknowledge(entry: Entry, job: Job): void {
    if (entry.id !== job.id) {
      entry.final = null;
      entry.answer = null;
    }
    entry.id = job.id;
    entry.acknowledged = true;
    this.byId.set(job.id, entry);
  }

  /** Any row a caller has seen. A final state never changes. */
  saw(entry: Entry, job: Job, atMs: number): void {
    const { status } = job.state;
    if (status === "queued" || status === "running") {
      if (entry.final !== null) this.violate(atMs, `${job.id} was ${entry.final.state.status} and is ${status} again`);
      return;
    }
    if (entry.final === null) entry.final = job;
    else if (JSON.stringify(entry.final.state) !== JSON.stringify(job.state)) {
      this.violate(atMs, `${job.id} was ${JSON.stringify(entry.final.state)} and is ${JSON.stringify(job.state)}`);
    }
  }
}

/** A key whose job ended by a lapsed lease or a closed socket starts anew. */
export function endedUnwanted(job: Job | null): boolean {
  if (job?.state.status !== "cancelled") return false;
  return job.state.reason === "lease_expired" || job.state.reason === "disconnect";
}
