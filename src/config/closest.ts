// "Did you mean": the nearest of a few known words, for keys, flags, commands and model names.

/**
 * Edits (insert, delete, replace, swap of neighbours) between two words, ignoring case.
 * Optimal string alignment, O(length x length); meant for short words only.
 */
function distance(left: string, right: string): number {
  const a = left.toLowerCase();
  const b = right.toLowerCase();
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1];
      let best = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (same ? 0 : 1),
      );
      if (row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]) {
        best = Math.min(best, (beforeLast[column - 2] ?? 0) + 1);
      }
      current.push(best);
    }
    beforeLast = last;
    last = current;
  }
  return last[b.length] ?? 0;
}

const LONGEST_WORD = 200;

/** The known word that `word` was probably meant to be, or null when none is near. */
export function closest(word: string, known: readonly string[]): string | null {
  if (word.length === 0 || word.length > LONGEST_WORD) return null;
  const lower = word.toLowerCase();
  let best: string | null = null;
  let bestEdits = Number.POSITIVE_INFINITY;
  for (const each of known) {
    const contained = lower.length >= 4 && each.toLowerCase().includes(lower);
    const edits = contained ? 1.5 : distance(word, each);
    if (edits < bestEdits) {
      best = each;
      bestEdits = edits;
    }
  }
  const allowed = Math.max(1, Math.floor(word.length / 3));
  return bestEdits <= Math.max(allowed, 1.5) ? best : null;
}
