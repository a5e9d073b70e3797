// Rows on terminals of any width, names from outside, and ids as people type them.

import { describe, expect, it } from "vitest";
import { findId, shortId } from "../../src/cli/record-id.ts";
import { tableText } from "../../src/cli/table.ts";
import { cutMiddle, harmless, widthOf, wrapped } from "../../src/cli/width.ts";
import { terminal } from "./terminal.ts";

const on = (columns: number) =>
  terminal({
    screen: { input: true, out: true, err: true, unicode: true, dumb: false, size: () => ({ columns, rows: 24 }) },
  }).io;
const off = terminal().io;
const COLUMNS = [
  { title: "NAME", least: 8 },
  { title: "N", right: true },
  { title: "SAID", wraps: true },
] as const;

describe("a table", () => {
  it("off a terminal is tab-separated and whole", () => {
    const name = "n".repeat(200);

    expect(tableText(off, COLUMNS, [[name, "1", "a b"]])).toBe(`NAME\tN\tSAID\n${name}\t1\ta b`);
  });

  it.each([20, 40, 80, 140])("at %i columns no line is wider than that", (columns) => {
    const text = tableText(on(columns), COLUMNS, [["a".repeat(90), "12", "word ".repeat(60).trim()]]);

    for (const line of text.split("\n")) expect(widthOf(line)).toBeLessThanOrEqual(columns);
  });

  it("holds a name that would move the cursor, set the title or make a row of its own", () => {
    const text = tableText(off, COLUMNS, [["\u001b]0;x\u0007\u001b[2J", "1\t2", "a\nb"]]);

    expect(text.split("\n")).toHaveLength(2);
    expect(text).not.toContain("\u001b");
    expect(text.split("\n")[1]?.split("\t")).toHaveLength(3);
  });
});

describe("widths", () => {
  it("count wide signs twice and joined ones once", () => {
    expect([widthOf("abc"), widthOf("模型"), widthOf("e\u0301"), widthOf("👩‍💻"), widthOf("日本a")]).toEqual([
      3, 4, 1, 2, 5,
    ]);
  });

  it("cut in the middle, and never beyond the width", () => {
    expect(cutMiddle("Qwen/Qwen3-Coder-30B-A3B", 12)).toBe("Qwen/Q…B-A3B".slice(0, 12));
    for (let width = 0; width < 12; width++)
      expect(widthOf(cutMiddle("模型模型模型模型", width))).toBeLessThanOrEqual(width);
  });

  it("break lines at spaces, and long words anywhere", () => {
    expect(wrapped("one two three", 7)).toEqual(["one two", "three"]);
    expect(wrapped("abcdefghij", 4)).toEqual(["abcd", "efgh", "ij"]);
    expect(wrapped("", 4)).toEqual([""]);
  });

  it("take the sting out of text that runs from right to left", () => {
    expect(harmless("a\u202egpj.exe")).toBe("a\ufffdgpj.exe");
  });
});

describe("an id as it is typed", () => {
  const ids = ["c", "b", "a"].map((sign) => `job_01a22ee7a1d87000aa45898553c3${sign.repeat(4)}`);
  const read = async (after: string | null): Promise<readonly string[]> =>
    ids.filter((id) => after === null || id < after);

  it.each([
    ["whole", ids[1] ?? ""],
    ["by its end", "53c3bbbb"],
    ["as a narrow table shows it", shortId(ids[1] ?? "", 13, "…")],
    ["as it is shown in ASCII", shortId(ids[1] ?? "", 13, "~")],
    ["by its beginning, if that is one job's alone", "job_01a22ee7a1d87000aa45898553c3b"],
    ["in capitals and without its prefix", "01A22EE7A1D87000AA45898553C3B"],
  ])("is found %s", async (_, typed) => {
    expect(await findId("job", typed, read)).toBe(ids[1]);
  });

  it("is refused where it is several, with all of them", async () => {
    await expect(findId("job", "job_01a22ee7", read)).rejects.toThrow(/3 jobs or more: job_01a22ee7/);
  });

  it.each(["53c3", "", "xyzxyz", "job_", "g".repeat(32)])("is refused where it says too little: %j", async (typed) => {
    await expect(findId("job", typed, read)).rejects.toThrow(/is no job's id/);
  });

  it("is said to be none where there is none", async () => {
    await expect(findId("job", "ffffffff", read)).rejects.toMatchObject({ exit: 5 });
  });
});
