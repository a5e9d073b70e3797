// README's table of configuration keys against the schema.

import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { configJsonSchema } from "../../src/config/json-schema.ts";

type Node = Readonly<Record<string, Readonly<Record<string, unknown>> | undefined>>;

describe("README", () => {
  const readme = readFileSync(new URL("../../README.md", import.meta.url), "utf8");
  const sections = (configJsonSchema()["properties"] ?? {}) as Readonly<Record<string, Node>>;

  it.each(Object.keys(sections))("names every key of %s", (section) => {
    const node = sections[section] ?? {};
    const keys = Object.keys(
      node["properties"] ?? ((node["additionalProperties"] ?? node["items"]) as Node)["properties"] ?? {},
    );
    const row = readme.split("\n").find((line) => line.startsWith(`| \`${section}\` |`)) ?? "";

    expect(keys.length).toBeGreaterThan(0);
    expect(keys.filter((key) => !row.includes(`\`${key}\``))).toEqual([]);
  });
});
