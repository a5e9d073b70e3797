// Walks a zod schema to the object at a path and names its keys, for did-you-mean.

import { z } from "zod";

function unwrap(schema: unknown): unknown {
  let inner = schema;
  while (
    inner instanceof z.ZodPrefault ||
    inner instanceof z.ZodOptional ||
    inner instanceof z.ZodDefault ||
    inner instanceof z.ZodNullable
  ) {
    inner = inner.unwrap();
  }
  return inner;
}

/** The keys that the object at `path` knows; empty when there is no object. */
export function keysOf(schema: z.ZodType, path: readonly PropertyKey[]): readonly string[] {
  let node = unwrap(schema);
  for (const key of path) {
    if (node instanceof z.ZodArray) node = unwrap(node.element);
    else if (node instanceof z.ZodRecord) node = unwrap(node.valueType);
    else if (node instanceof z.ZodObject) node = unwrap(node.shape[String(key)]);
    else return [];
  }
  return node instanceof z.ZodObject ? Object.keys(node.shape) : [];
}
