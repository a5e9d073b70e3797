// The reference says what the code is, word for word.

import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { PAGES } from "../../scripts/reference/pages.ts";
import { CAUSE_WORDS } from "../../src/explain/causes.ts";

const folder = new URL("../../docs/reference/", import.meta.url);

describe("docs/reference", () => {
  it.each(Object.entries(PAGES))("%s is current (`npm run docs` writes it)", async (name, write) => {
    expect(readFileSync(new URL(name, folder), "utf8")).toBe(await write());
  });

  it("has no page that claims to be written by a program and is not", () => {
    const claiming = readdirSync(folder).filter((name) =>
      readFileSync(new URL(name, folder), "utf8").includes("Written by `npm run docs`"),
    );

    expect(claiming.sort()).toEqual(Object.keys(PAGES).sort());
  });
});

it("the page on slowness has a row for every cause, by the name that people see", () => {
  const page = readFileSync(new URL("../how-to/it-is-slow.md", folder), "utf8");
  const rows = page.split("\n").filter((line) => line.startsWith("| "));

  const missing = Object.values(CAUSE_WORDS).filter(({ title }) => !rows.some((row) => row.includes(title)));

  expect(missing.map(({ title }) => title)).toEqual([]);
});
