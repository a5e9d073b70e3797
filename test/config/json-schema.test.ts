// The JSON Schema: every key has a sentence, and it says what the loader enforces.

import { describe, expect, it } from "vitest";
import { configJsonSchema } from "../../src/config/json-schema.ts";

type Node = Readonly<Record<string, unknown>>;

/** Every property of every object in the schema, with its path. */
function properties(node: unknown, path = ""): [path: string, schema: Node][] {
  if (typeof node !== "object" || node === null) return [];
  const { properties: own = {}, additionalProperties, oneOf = [], anyOf = [] } = node as Record<string, Node>;
  return [
    ...Object.entries(own).flatMap(([key, schema]): [string, Node][] => [
      [`${path}.${key}`, schema as Node],
      ...properties(schema, `${path}.${key}`),
    ]),
    ...properties(additionalProperties, `${path}.*`),
    ...[oneOf, anyOf].flatMap((list) => (list as unknown as Node[]).flatMap((each) => properties(each, path))),
  ];
}

describe("the JSON Schema of the configuration", () => {
  const schema = configJsonSchema();
  const all = properties(schema);

  it("describes every key in a sentence", () => {
    const silent = all.filter(([path, node]) => !path.endsWith(".driver") && !/\.$/.test(String(node["description"])));

    expect(all.length).toBeGreaterThan(50);
    expect(silent.map(([path]) => path)).toEqual([]);
  });

  const isNumber = (node: Node): boolean =>
    /"type":"(number|integer)"/.test(JSON.stringify({ ...node, properties: 0 }));

  it("ends every duration in Seconds and every size in GiB or Bytes", () => {
    const isFactor = (path: string): boolean => /^\.scheduler(\.shadow\.set)?\.(hold|holdMax)$/.test(path);
    const timed = all.filter(
      ([path, node]) =>
        !isFactor(path) && isNumber(node) && /(timeout|lease|ttl|wait|hold|grace|sweep|drain)\w*$/i.test(path),
    );
    const sized = all.filter(([path, node]) => isNumber(node) && /(memory|limit|stored)\w*$/i.test(path));

    expect([timed.length > 10, sized.length > 3]).toEqual([true, true]);
    expect(timed.filter(([path]) => !/Seconds$/.test(path)).map(([path]) => path)).toEqual([]);
    expect(sized.filter(([path]) => !/(GiB|Bytes)$/.test(path)).map(([path]) => path)).toEqual([]);
  });

  it("requires only what has no default", () => {
    expect(schema["required"]).toEqual(["models"]);
    expect(schema["additionalProperties"]).toBe(false);
  });

  it("offers each driver with its own options", () => {
    const paths = all.map(([path]) => path);

    expect(paths).toContain(".models.*.backend.tokensPerSecond");
    expect(paths).toContain(".models.*.backend.driver");
  });
});
