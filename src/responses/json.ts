// JSON as it comes from callers and engines: of no known shape until it was looked at.

export type Json = Readonly<Record<string, unknown>>;

export function isRecord(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function recordsOf(value: unknown): readonly Json[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** Null: it is not JSON, or not an object. */
export function parseRecord(bytes: Uint8Array | string): Json | null {
  try {
    const value: unknown = JSON.parse(typeof bytes === "string" ? bytes : Buffer.from(bytes).toString());
    return isRecord(value) ? value : null;
  } catch {
    return null;
  }
}
