// Reading what an earlier router wrote down of what it had learned: what has another shape than is expected is not there.

export type Fields = Readonly<Record<string, unknown>>;

const NONE: Fields = {};

export function fieldsIn(value: unknown): Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : NONE;
}

export function numberIn(value: unknown): number | null {
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}

/** Those of an object's fields that are numbers. */
export function numbersIn(value: unknown): [key: string, value: number][] {
  return Object.entries(fieldsIn(value)).flatMap(([key, each]): [string, number][] => {
    const number = numberIn(each);
    return number === null ? [] : [[key, number]];
  });
}

export function listIn(value: unknown): number[] {
  return Array.isArray(value) ? value.flatMap((each) => numberIn(each) ?? []) : [];
}
