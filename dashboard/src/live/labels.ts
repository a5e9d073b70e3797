// What people call models: the configuration's labels, by their names.

import type { StatusWire } from "../../../src/client/wire-status.ts";
import { useSelected } from "../cell.ts";
import { status } from "./state.ts";

let last: { readonly key: string; labelOf(model: string): string } = { key: "", labelOf: (model) => model };

/** A model's label; its name where it has none. The same function as long as the labels are. */
export function useLabels(): (model: string) => string {
  return useSelected(status, labelsOf);
}

function labelsOf(now: StatusWire | null): (model: string) => string {
  const pairs = (now?.models ?? []).map(({ id, label }): [string, string] => [id, label]);
  const key = JSON.stringify(pairs);
  if (key !== last.key) {
    const labels = new Map(pairs);
    last = { key, labelOf: (model) => labels.get(model) ?? model };
  }
  return last.labelOf;
}
