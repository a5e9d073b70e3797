// Reads answers of which nothing is certain: what is not there or of another kind is null or empty.

export function member(value: unknown, ...path: readonly (string | number)[]): unknown {
  let found = value;
  for (const key of path) {
    if (typeof found !== "object" || found === null) return undefined;
    found = (found as Record<string | number, unknown>)[key];
  }
  return found;
}

export function textAt(value: unknown, ...path: readonly (string | number)[]): string | null {
  const found = member(value, ...path);
  return typeof found === "string" && found !== "" ? found : null;
}

export function numberAt(value: unknown, ...path: readonly (string | number)[]): number | null {
  const found = member(value, ...path);
  return typeof found === "number" && Number.isFinite(found) ? found : null;
}

/** Undefined when it is no list. */
export function listAt(value: unknown, ...path: readonly (string | number)[]): readonly unknown[] | undefined {
  const found = member(value, ...path);
  return Array.isArray(found) ? found : undefined;
}
