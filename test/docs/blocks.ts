// The fenced blocks of a page, with what its comments say of them: `<!-- test: serve -->` before a block has it run in
// the background, `<!-- test: skip WHY -->` leaves it out, `<!-- test: output -->` marks what the block before printed.

export interface Block {
  readonly language: string;
  readonly text: string;
  /** Of its first fence. */
  readonly line: number;
  readonly kind: "run" | "serve" | "skip" | "output";
  readonly why: string;
}

const FENCE = /^```(\S*)\s*$/;
const REMARK = /^<!-- test: (serve|skip|output)\s*(.*?)\s*-->$/;

export function blocksOf(page: string): Block[] {
  const blocks: Block[] = [];
  const lines = page.split("\n");
  let remark: RegExpExecArray | null = null;
  for (let at = 0; at < lines.length; at++) {
    const opened = FENCE.exec(lines[at] ?? "");
    if (opened === null) {
      const found = REMARK.exec(lines[at]?.trim() ?? "");
      if (found !== null) remark = found;
      else if (lines[at]?.trim() !== "") remark = null;
      continue;
    }
    const from = at + 1;
    do at++;
    while (at < lines.length && !(lines[at] ?? "").startsWith("```"));
    const kind = (remark?.[1] ?? "run") as Block["kind"];
    blocks.push({
      language: opened[1] ?? "",
      text: lines.slice(from, at).join("\n"),
      line: from,
      kind,
      why: remark?.[2] ?? "",
    });
    remark = null;
  }
  return blocks;
}

/**
 * `…` stands for anything within a line; lines may be left out by a line that is only `…`. Columns may be wider or
 * narrower: any white space is one space.
 */
export function sameOutput(expected: string, actual: string): string | null {
  const lines = actual.split("\n").map(plain);
  let at = 0;
  let gap = true;
  for (const wanted of expected.split("\n").map(plain)) {
    if (wanted === "") continue;
    if (wanted === "…") {
      gap = true;
      continue;
    }
    const pattern = new RegExp(`^${wanted.split("…").map(literally).join(".*")}$`, "u");
    const found = lines.findIndex((line, index) => index >= at && pattern.test(line));
    const skipped = lines.slice(at, found).filter((line) => line !== "");
    if (found === -1 || (!gap && skipped.length > 0)) return wanted;
    at = found + 1;
    gap = false;
  }
  return null;
}

/** No-break spaces are white space too. */
const plain = (line: string): string => line.replaceAll(/\s+/g, " ").trim();

const literally = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
