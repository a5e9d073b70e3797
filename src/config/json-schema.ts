// The configuration as JSON Schema, for editors and for those who generate it: what `sir config schema` prints.

import { z } from "zod";
import type { Driver } from "../backends/backend.ts";
import { drivers } from "../backends/registry.ts";
import { configSchema } from "./schema.ts";

type Json = Record<string, unknown>;

const isRecord = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Draft 2020-12, as a file is written: with defaults optional, and each backend by its driver. */
export function configJsonSchema(): Json {
  const schema = z.toJSONSchema(configSchema, { io: "input", unrepresentable: "any" }) as Json;
  const model = dig(schema, ["properties", "models", "additionalProperties", "properties"]);
  const description = dig(model, ["backend"])["description"];
  model["backend"] = { description, oneOf: drivers.map(ofDriver) };
  return schema;
}

function dig(schema: Json, path: readonly string[]): Json {
  let node: unknown = schema;
  for (const key of path) node = isRecord(node) ? node[key] : undefined;
  if (!isRecord(node)) throw new Error(`the schema has no ${path.join(".")}`);
  return node;
}

function ofDriver(driver: Driver): Json {
  const { $schema: _same, ...options } = z.toJSONSchema(driver.options, {
    io: "input",
    unrepresentable: "any",
  }) as Json;
  const required = Array.isArray(options["required"]) ? options["required"] : [];
  const properties = isRecord(options["properties"]) ? options["properties"] : {};
  return {
    ...options,
    properties: { driver: { const: driver.name }, ...properties },
    required: ["driver", ...required],
  };
}
