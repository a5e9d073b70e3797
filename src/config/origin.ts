// Where each value came from, so that `sir doctor` can say it: default, file, environment or flag.

import { holdsSecret, pathText } from "./problem.ts";

export type Origin =
  | { readonly kind: "default" }
  | { readonly kind: "file"; readonly file: string }
  | { readonly kind: "environment"; readonly variable: string }
  | { readonly kind: "flag"; readonly flag: string };

/** One value laid over the file. */
export interface Override {
  readonly path: readonly [section: string, key: string];
  readonly value: unknown;
  readonly origin: Origin;
}

export interface Explained {
  readonly path: string;
  readonly value: unknown;
  readonly origin: Origin;
}

export function originText(origin: Origin): string {
  switch (origin.kind) {
    case "default":
      return "default";
    case "file":
      return "file";
    case "environment":
      return origin.variable;
    case "flag":
      return origin.flag;
  }
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The document with overrides laid over it; the given one is not changed. */
export function overlay(document: unknown, overrides: readonly Override[]): unknown {
  if (overrides.length === 0 || !isRecord(document)) return document;
  const result: Record<string, unknown> = { ...document };
  for (const { path, value } of overrides) {
    const [section, key] = path;
    const existing = result[section];
    if (existing !== undefined && !isRecord(existing)) continue;
    result[section] = { ...existing, [key]: value };
  }
  return result;
}

/**
 * Every leaf of the resolved document in its own order. Values of keys that may hold a secret are replaced by `(set)`.
 * @param written what the file said, before defaults and overrides
 */
export function explain(
  resolved: unknown,
  written: unknown,
  file: string | null,
  overrides: readonly Override[],
): Explained[] {
  const found: Explained[] = [];
  const laid = new Map(overrides.map((each) => [pathText(each.path), each.origin]));
  const walk = (value: unknown, said: unknown, path: readonly PropertyKey[]): void => {
    const secret = path.some(holdsSecret) && value !== undefined;
    if (isRecord(value) && !secret) {
      for (const [key, inner] of Object.entries(value))
        walk(inner, isRecord(said) ? said[key] : undefined, [...path, key]);
      return;
    }
    if (Array.isArray(value) && value.some(isRecord)) {
      for (const [at, inner] of value.entries()) walk(inner, Array.isArray(said) ? said[at] : undefined, [...path, at]);
      return;
    }
    const text = pathText(path);
    const inFile: Origin = said !== undefined && file !== null ? { kind: "file", file } : { kind: "default" };
    const empty = isRecord(value) && Object.keys(value).length === 0;
    found.push({ path: text, value: secret && !empty ? "(set)" : value, origin: laid.get(text) ?? inFile });
  };
  walk(resolved, written, []);
  return found;
}
