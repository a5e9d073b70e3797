// The page on clients says what the conformance suite proves, no more and no less.

import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import * as exported from "../../src/client/index.ts";
import { claimsTable } from "../conformance/clients.ts";

const page = readFileSync(new URL("../../docs/how-to/call-it-from.md", import.meta.url), "utf8");

describe("docs/how-to/call-it-from.md", () => {
  it("has the table of what is claimed of each client", () => {
    expect(page).toContain(`\n${claimsTable()}\n`);
  });

  it("names everything that sir-router/client exports", () => {
    const names = Object.keys(exported).filter((name) => name !== "SirError");

    expect(names.filter((name) => !page.includes(name))).toEqual([]);
  });
});
