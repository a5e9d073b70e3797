// Which models may be loaded at the same time, and how that is said here. llama-swap lists what may be together; SIR fits
// models into memory and lists what may not. Without sizes, memory is counted in places: a model that may share takes one.

export interface Together {
  /** Models that may share the device with another. */
  readonly sharing: readonly string[];
  /** Most of them at once; 1: one at a time, and there is nothing to write. */
  readonly places: number;
  /** Sets of sharing models of which no two may be loaded together. */
  readonly apart: readonly (readonly string[])[];
}

const MOST_STEPS = 100_000;

export function togetherness(models: readonly string[], may: (a: string, b: string) => boolean): Together {
  const sharing = models.filter((a) => models.some((b) => a !== b && may(a, b)));
  return { sharing, places: mostAtOnce(sharing, may), apart: setsApart(sharing, may) };
}

/** The largest set of which all pairs may be together. */
function mostAtOnce(models: readonly string[], may: (a: string, b: string) => boolean): number {
  let best = Math.min(1, models.length);
  let steps = 0;
  const grow = (size: number, rest: readonly string[]): void => {
    best = Math.max(best, size);
    for (const [at, model] of rest.entries()) {
      if (size + rest.length - at <= best || ++steps > MOST_STEPS) return;
      grow(
        size + 1,
        rest.slice(at + 1).filter((other) => may(model, other)),
      );
    }
  };
  grow(0, models);
  return best;
}

/** Every pair that may not be together lies in one of the sets; each set is made as large as it comes. */
function setsApart(models: readonly string[], may: (a: string, b: string) => boolean): string[][] {
  const covered = new Set<string>();
  const sets: string[][] = [];
  for (const [at, a] of models.entries()) {
    for (const b of models.slice(at + 1)) {
      if (may(a, b) || covered.has(`${a}\0${b}`)) continue;
      const set = [a, b];
      for (const each of models) {
        if (!set.includes(each) && set.every((other) => !may(each, other))) set.push(each);
      }
      const ordered = models.filter((each) => set.includes(each));
      for (const [i, x] of ordered.entries()) for (const y of ordered.slice(i + 1)) covered.add(`${x}\0${y}`);
      sets.push(ordered);
    }
  }
  return sets;
}
