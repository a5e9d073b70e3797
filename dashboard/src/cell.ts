// State that components watch: a value, and who is told when it becomes another one. A component that looks at a part of
// it is drawn again only when that part is another object.

import { useLayoutEffect, useState } from "preact/hooks";

export class Cell<T> {
  #value: T;
  readonly #watchers = new Set<() => void>();

  constructor(value: T) {
    this.#value = value;
  }

  get value(): T {
    return this.#value;
  }

  set(value: T): void {
    if (Object.is(value, this.#value)) return;
    this.#value = value;
    for (const watcher of [...this.#watchers]) watcher();
  }

  /** @returns what ends the watching. */
  watch(watcher: () => void): () => void {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }
}

/** The cell's value, now and whenever it changes. */
export function useCell<T>(cell: Cell<T>): T {
  return useSelected(cell, (value) => value);
}

/** A part of the cell's value. `select` must give the same object while the part is the same. */
export function useSelected<T, S>(cell: Cell<T>, select: (value: T) => S): S {
  const selected = select(cell.value);
  const [, redraw] = useState(0);
  useLayoutEffect(() => {
    let seen = selected;
    const look = (): void => {
      const next = select(cell.value);
      if (Object.is(next, seen)) return;
      seen = next;
      redraw((count) => count + 1);
    };
    // It may have changed between the drawing and now.
    look();
    return cell.watch(look);
  }, [cell, select, selected]);
  return selected;
}
