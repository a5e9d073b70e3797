// Who still wants an answer. Polls renew in memory; the store hears of them lazily, because a restart grants a full
// lease anyway (nobody could poll while the router was down).

import type { JobId } from "../domain/ids.ts";

const BUCKET_MS = 1000;

/** Instants by id; asking for what is due costs only what is due. */
export class ExpiryWheel {
  readonly #atMs = new Map<JobId, number>();
  readonly #buckets = new Map<number, JobId[]>();
  #lastBucket = Number.NEGATIVE_INFINITY;

  get size(): number {
    return this.#atMs.size;
  }

  get(id: JobId): number | null {
    return this.#atMs.get(id) ?? null;
  }

  /** Later than before: costs a map write. Earlier: the entry is filed again. */
  set(id: JobId, atMs: number): void {
    const before = this.#atMs.get(id);
    this.#atMs.set(id, atMs);
    if (before === undefined || atMs < before) this.#file(id, atMs);
  }

  delete(id: JobId): void {
    this.#atMs.delete(id);
  }

  /** Takes out and returns what is due at `nowMs`. */
  due(nowMs: number): JobId[] {
    const due: JobId[] = [];
    const nowBucket = Math.floor(nowMs / BUCKET_MS);
    for (const bucket of [...this.#buckets.keys()].filter((each) => each <= nowBucket).sort((a, b) => a - b)) {
      const ids = this.#buckets.get(bucket) ?? [];
      this.#buckets.delete(bucket);
      this.#lastBucket = bucket - 1;
      for (const id of ids) {
        const atMs = this.#atMs.get(id);
        if (atMs === undefined) continue;
        if (atMs <= nowMs) {
          this.#atMs.delete(id);
          due.push(id);
        } else this.#file(id, atMs);
      }
    }
    this.#lastBucket = nowBucket - 1;
    return due;
  }

  #file(id: JobId, atMs: number): void {
    const bucket = Math.max(Math.floor(atMs / BUCKET_MS), this.#lastBucket + 1);
    const ids = this.#buckets.get(bucket);
    if (ids === undefined) this.#buckets.set(bucket, [id]);
    else ids.push(id);
  }
}

interface Interest {
  /** Null: nobody has to poll. */
  leaseMs: number | null;
  holds: number;
  /** Only sockets have ever wanted it: when the last one goes, so does the job. */
  socketOnly: boolean;
}

/** Leases of live jobs. A held socket is a lease that does not run. */
export class Leases {
  readonly #interests = new Map<JobId, Interest>();
  readonly #lapses = new ExpiryWheel();

  /**
   * A job enters: its lease starts, unless a socket holds it already (`hold` may come first). `socketOnly`: it was a
   * socket that wanted it, and that may come back.
   */
  grant(id: JobId, leaseMs: number | null, nowMs: number, socketOnly = false): void {
    const interest = this.#interests.get(id);
    if (interest !== undefined) {
      interest.leaseMs = leaseMs;
      return;
    }
    this.#interests.set(id, { leaseMs, holds: 0, socketOnly });
    if (leaseMs !== null) this.#lapses.set(id, nowMs + leaseMs);
  }

  renew(id: JobId, nowMs: number): void {
    const interest = this.#interests.get(id);
    if (interest === undefined) return;
    interest.socketOnly = false;
    this.#run(id, interest, nowMs);
  }

  hold(id: JobId): void {
    const interest = this.#interests.get(id);
    if (interest === undefined) this.#interests.set(id, { leaseMs: null, holds: 1, socketOnly: true });
    else interest.holds++;
    this.#lapses.delete(id);
  }

  release(id: JobId, nowMs: number): void {
    const interest = this.#interests.get(id);
    if (interest === undefined) return;
    interest.holds = Math.max(0, interest.holds - 1);
    this.#run(id, interest, nowMs);
  }

  /** `orphaned`: the last socket of a job that only sockets wanted has gone; it now lapses at `nowMs + orphanMs`. */
  drop(id: JobId, orphanMs: number, nowMs: number): "kept" | "orphaned" {
    const interest = this.#interests.get(id);
    if (interest === undefined) return "kept";
    interest.holds = Math.max(0, interest.holds - 1);
    if (interest.holds > 0 || !interest.socketOnly) {
      this.#run(id, interest, nowMs);
      return "kept";
    }
    this.#lapses.set(id, nowMs + orphanMs);
    return "orphaned";
  }

  /** Only sockets have wanted it, and all are gone. */
  isOrphan(id: JobId): boolean {
    const interest = this.#interests.get(id);
    return interest?.socketOnly === true && interest.holds === 0;
  }

  expiresAtMs(id: JobId): number | null {
    return this.#lapses.get(id);
  }

  forget(id: JobId): void {
    this.#interests.delete(id);
    this.#lapses.delete(id);
  }

  /** Nobody could poll for so long: it counts against no lease. O(leases that run). */
  postpone(byMs: number): void {
    for (const id of this.#interests.keys()) {
      const atMs = this.#lapses.get(id);
      if (atMs !== null) this.#lapses.set(id, atMs + byMs);
    }
  }

  /** Takes out and returns whose lease is over. */
  lapsed(nowMs: number): JobId[] {
    return this.#lapses.due(nowMs);
  }

  #run(id: JobId, interest: Interest, nowMs: number): void {
    if (interest.holds > 0) return;
    if (interest.leaseMs === null) this.#lapses.delete(id);
    else this.#lapses.set(id, nowMs + interest.leaseMs);
  }
}
