// The sentence on top of a job, in two: what happened, and why. Pure.

/** Splits behind the first sentence; names may hold points, so a point counts only before a space and a capital or digit. */
export function splitSummary(summary: string): { readonly lead: string; readonly rest: string } {
  const end = /[.!?] (?=[\p{Lu}\p{N}])/u.exec(summary);
  if (end === null) return { lead: summary, rest: "" };
  return { lead: summary.slice(0, end.index + 1), rest: summary.slice(end.index + 2) };
}
