// What is stored, counted in memory and written once in each commit, in the same transaction as what it counts.

import type { Database } from "better-sqlite3";

interface Counts {
  readonly bytes: number;
  readonly jobs: number;
}

export class Ledger {
  readonly #write: ReturnType<Database["prepare"]>;
  #committed: Counts;
  #bytes: number;
  #jobs: number;

  constructor(db: Database) {
    this.#write = db.prepare(
      "UPDATE usage SET stored_bytes = @bytes, jobs = @jobs, stamp_ms = max(stamp_ms, @atMs) WHERE id = 1",
    );
    const read = db.prepare<[], Counts>("SELECT stored_bytes AS bytes, jobs FROM usage WHERE id = 1");
    this.#committed = read.get() ?? { bytes: 0, jobs: 0 };
    this.#bytes = this.#committed.bytes;
    this.#jobs = this.#committed.jobs;
  }

  /** Of bodies and results. */
  get bytes(): number {
    return this.#bytes;
  }

  bytesBy(change: number): void {
    this.#bytes += change;
  }

  jobsBy(change: number): void {
    this.#jobs += change;
  }

  mark(): Counts {
    return { bytes: this.#bytes, jobs: this.#jobs };
  }

  /** Back to a savepoint; without one, back to the last commit. */
  undo({ bytes, jobs }: Counts = this.#committed): void {
    this.#bytes = bytes;
    this.#jobs = jobs;
  }

  /** Part of the transaction that is about to be committed. */
  write(atMs: number): void {
    this.#write.run({ bytes: this.#bytes, jobs: this.#jobs, atMs });
  }

  committed(): void {
    this.#committed = this.mark();
  }
}
