// Which jobs stood in the list that the reader came from, so that a job's page can go on to the next.

import { Cell } from "../cell.ts";

/** In the list's order. */
export const neighbours = new Cell<readonly string[]>([]);

export function around(
  ids: readonly string[],
  id: string,
): { readonly before: string | null; readonly after: string | null } {
  const at = ids.indexOf(id);
  if (at === -1) return { before: null, after: null };
  return { before: ids[at - 1] ?? null, after: ids[at + 1] ?? null };
}
