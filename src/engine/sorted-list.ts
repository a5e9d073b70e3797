// A sorted list in chunks: insert, remove, first and position without touching more than a few hundred entries, also
// with a million in it. Arrivals mostly append, so the last chunk is tried first.

const CHUNK = 512;

export class SortedList<T> {
  readonly #compare: (a: T, b: T) => number;
  #chunks: T[][] = [];
  #size = 0;

  /** @param compare A total order: 0 only for the same entry. */
  constructor(compare: (a: T, b: T) => number) {
    this.#compare = compare;
  }

  get size(): number {
    return this.#size;
  }

  first(): T | undefined {
    return this.#chunks[0]?.[0];
  }

  insert(item: T): void {
    this.#size++;
    const at = Math.min(this.#chunkOf(item), Math.max(0, this.#chunks.length - 1));
    const chunk = this.#chunks[at];
    if (chunk === undefined) {
      this.#chunks.push([item]);
      return;
    }
    chunk.splice(this.#lowerBound(chunk, item), 0, item);
    if (chunk.length > CHUNK) this.#chunks.splice(at + 1, 0, chunk.splice(CHUNK / 2));
  }

  /** False: it was not in the list. */
  remove(item: T): boolean {
    const at = this.#chunkOf(item);
    const chunk = this.#chunks[at];
    if (chunk === undefined) return false;
    const index = this.#lowerBound(chunk, item);
    const found = chunk[index];
    if (found === undefined || this.#compare(found, item) !== 0) return false;
    chunk.splice(index, 1);
    if (chunk.length === 0) this.#chunks.splice(at, 1);
    this.#size--;
    return true;
  }

  /** How many entries stand before `item`; null when it is not in the list. O(size / 512). */
  position(item: T): number | null {
    const chunk = this.#chunks[this.#chunkOf(item)];
    if (chunk === undefined) return null;
    const found = chunk[this.#lowerBound(chunk, item)];
    return found === undefined || this.#compare(found, item) !== 0 ? null : this.countBefore(item);
  }

  /** How many entries stand before where `item` is or would be. O(size / 512). */
  countBefore(item: T): number {
    const at = this.#chunkOf(item);
    let before = this.#lowerBound(this.#chunks[at] ?? [], item);
    for (let i = 0; i < at; i++) before += this.#chunks[i]?.length ?? 0;
    return before;
  }

  *[Symbol.iterator](): Iterator<T> {
    for (const chunk of this.#chunks) yield* chunk;
  }

  /** The first chunk whose last entry is not before `item`; the number of chunks when all are. */
  #chunkOf(item: T): number {
    let low = 0;
    let high = this.#chunks.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const last = this.#chunks[middle]?.at(-1);
      if (last !== undefined && this.#compare(last, item) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #lowerBound(chunk: readonly T[], item: T): number {
    let low = 0;
    let high = chunk.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const entry = chunk[middle];
      if (entry !== undefined && this.#compare(entry, item) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
