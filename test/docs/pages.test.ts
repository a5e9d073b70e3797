// What a page tells people to type is typed here, and what it says is printed must be.

import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { type Block, blocksOf, sameOutput } from "./blocks.ts";
import { runPage } from "./session.ts";

const root = new URL("../../", import.meta.url);
const pages = [
  "README.md",
  ...readdirSync(new URL("docs/", root), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md") && !name.startsWith("reference/"))
    .map((name) => `docs/${name}`),
].map((page) => ({ page, blocks: blocksOf(readFileSync(new URL(page, root), "utf8")) }));

const isShell = ({ language }: Block): boolean => language === "sh" || language === "bash";
const skipped = pages.flatMap(({ page, blocks }) =>
  blocks.filter(({ kind }) => kind === "skip").map(({ line, why }) => ({ name: `${page}:${line}`, why })),
);

describe("the commands in", () => {
  const shown = pages.filter(({ blocks }) => blocks.some((block) => isShell(block) && block.kind !== "skip"));

  it.concurrent.each(shown)("$page run as they stand there", async ({ page, blocks }) => {
    const wanted = blocks.filter((block) => isShell(block) && block.kind !== "skip");
    const session = await runPage(wanted);

    expect(session.failedAt === null ? "" : `${page}:${session.failedAt} failed:\n${session.log}`).toBe("");
    for (const [index, block] of blocks.entries()) {
      if (block.kind !== "output") continue;
      const source = blocks.slice(0, index).findLast(isShell);
      const printed = session.printed.get(source?.line ?? -1) ?? "";
      const missing = sameOutput(block.text, printed);
      expect(missing === null ? "" : `${page}:${block.line}: "${missing}" was not printed, but:\n${printed}`).toBe("");
    }
  });
});

describe("the JSON in", () => {
  const shown = pages.flatMap(({ page, blocks }) =>
    blocks
      .filter(({ language }) => language === "json")
      .map((block) => ({ name: `${page}:${block.line}`, text: block.text })),
  );

  it("every page can be parsed", () => {
    for (const { name, text } of shown) expect(() => JSON.parse(text), name).not.toThrow();
  });
});

describe("what is left out", () => {
  it("says why", () => {
    for (const { name, why } of skipped) console.warn(`NOT RUN: ${name}: ${why}`);

    expect(skipped.filter(({ why }) => why.length < 10)).toEqual([]);
  });
});

describe("a page that is wrong", () => {
  const fenced = (text: string): Block[] => blocksOf(text.replaceAll("~~~", "```"));

  it("is caught when a command fails", async () => {
    const session = await runPage(fenced("~~~sh\ntrue\n~~~\n\n~~~sh\nfalse\n~~~"));

    expect(session.failedAt).toBe(5);
  });

  it("is caught when something else is printed", () => {
    expect(sameOutput("one …\nthree", "one two\nthree")).toBe(null);
    expect(sameOutput("one\nthree", "one\ntwo\nthree")).toBe("three");
    expect(sameOutput("one\n…\nthree", "one\ntwo\nthree")).toBe(null);
    expect(sameOutput("1 job", "1 jobs")).toBe("1 job");
  });
});
