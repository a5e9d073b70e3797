// The log as somebody reads it who sits before it.

import { expect, it } from "vitest";
import { createLog } from "../../src/observe/log.ts";
import { terminalLine } from "../../src/observe/terminal-line.ts";
import { oneOfEach, swap } from "./events.ts";

function linesOf(events: readonly (typeof oneOfEach)[number][]): string[] {
  const lines: string[] = [];
  const { listen } = createLog({ level: "debug", stream: { write: (json) => void lines.push(terminalLine(json)) } });
  for (const event of events) listen(event);
  return lines.map((line) => line.replace(/^\d\d:\d\d:\d\d /, "AT "));
}

it("tells a decision as its sentence", () => {
  expect(linesOf([{ type: "decision", decision: swap }])).toEqual([`AT ${swap.device} swap: ${swap.sentence}`]);
});

it("has one line of words for every event", () => {
  for (const line of linesOf(oneOfEach)) {
    expect(line).toMatch(/^AT \S/);
    expect(line).not.toMatch(/undefined|NaN|\[object|[{}]|\n/);
  }
});

it("passes on what is no line of the log", () => {
  expect(terminalLine("plain text\n")).toBe("plain text");
  expect(terminalLine("null")).toBe("null");
});
