// The models that callers may name: by name or alias, with a suggestion when they miss.

import { SirError } from "../domain/errors.ts";
import type { ModelSpec } from "../domain/model.ts";

/** How many models an error message lists. */
const LISTED = 10;
/** A longer name is no misspelling of ours, and comparing costs time. */
const COMPARED_CHARACTERS = 100;

export interface ModelDirectory {
  /** @throws {SirError} model_not_found, with the nearest name */
  resolve(name: string): ModelSpec;
  /** In the order of the configuration. */
  list(): readonly ModelSpec[];
  /** The configuration was read again. */
  replace(specs: readonly ModelSpec[]): void;
}

export function createModelDirectory(initial: readonly ModelSpec[]): ModelDirectory {
  let models = initial;
  let byName = indexOf(models);
  return {
    resolve(name) {
      const found = byName.get(name);
      if (found !== undefined) return found;
      throw new SirError("model_not_found", notFound(name, models), { param: "model" });
    },
    list: () => models,
    replace(specs) {
      models = specs;
      byName = indexOf(specs);
    },
  };
}

/** A name wins over another model's alias. */
function indexOf(models: readonly ModelSpec[]): ReadonlyMap<string, ModelSpec> {
  const index = new Map<string, ModelSpec>();
  for (const spec of models) for (const alias of spec.aliases) index.set(alias, spec);
  for (const spec of models) index.set(spec.name, spec);
  return index;
}

function notFound(name: string, models: readonly ModelSpec[]): string {
  const shown = JSON.stringify(name.length > COMPARED_CHARACTERS ? `${name.slice(0, COMPARED_CHARACTERS)}…` : name);
  if (models.length === 0) return `The model ${shown} does not exist; none is configured.`;
  const near = nearest(
    name,
    models.flatMap((spec) => [spec.name, ...spec.aliases]),
  );
  const hint = near === null ? "" : ` Did you mean ${JSON.stringify(near)}?`;
  const known = models.slice(0, LISTED).map((spec) => spec.name);
  const more = models.length > LISTED ? ` and ${models.length - LISTED} more` : "";
  return `The model ${shown} does not exist.${hint} Known models: ${known.join(", ")}${more}.`;
}

/** The candidate with the fewest edits, case and owner (`owner/name`) aside; null when none is near. */
export function nearest(name: string, candidates: readonly string[]): string | null {
  if (name.length > COMPARED_CHARACTERS) return null;
  let best: string | null = null;
  let fewest = Number.POSITIVE_INFINITY;
  for (const candidate of candidates) {
    const distance = Math.min(editsOf(name, candidate), 0.5 + editsOf(ownName(name), ownName(candidate)));
    if (distance < fewest) {
      fewest = distance;
      best = candidate;
    }
  }
  return fewest <= Math.max(2, name.length / 3) ? best : null;
}

function ownName(name: string): string {
  return name.slice(name.lastIndexOf("/") + 1);
}

/** Levenshtein distance without regard to case. */
function editsOf(one: string, other: string): number {
  const [a, b] = [one.toLowerCase(), other.toLowerCase()];
  let above = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let i = 0; i < a.length; i++) {
    const row = [i + 1];
    for (let j = 0; j < b.length; j++) {
      const change = (above[j] ?? 0) + (a[i] === b[j] ? 0 : 1);
      row.push(Math.min(change, (above[j + 1] ?? 0) + 1, (row[j] ?? 0) + 1));
    }
    above = row;
  }
  return above[b.length] ?? 0;
}
