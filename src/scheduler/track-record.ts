// How often somebody was right lately: the last twelve outcomes.

const KEPT = 12;

export class TrackRecord {
  readonly #last: boolean[] = [];

  note(right: boolean): void {
    this.#last.push(right);
    if (this.#last.length > KEPT) this.#last.shift();
  }

  get count(): number {
    return this.#last.length;
  }

  get hits(): number {
    return this.#last.filter(Boolean).length;
  }

  /** At least so many outcomes, and at least this share of them right. */
  reaches(least: number, share: number): boolean {
    return this.count >= least && this.hits >= share * this.count;
  }

  /** Oldest first. */
  get outcomes(): readonly boolean[] {
    return this.#last;
  }

  clear(): void {
    this.#last.length = 0;
  }
}
