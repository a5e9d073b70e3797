import { describe, expect, it } from "vitest";
import { instantText, parseInstant, parseSpan } from "../../src/cli/instant.ts";
import { Zone } from "../../src/cli/zone.ts";

const NOW_MS = new Date(2026, 2, 4, 15, 30, 10).getTime();
const parse = (text: string): string => instantText(parseInstant(text, "from", NOW_MS), new Zone());

describe("an instant", () => {
  it.each([
    ["now", "2026-03-04 15:30:10"],
    ["2h", "2026-03-04 13:30:10"],
    ["1d12h30m", "2026-03-03 03:00:10"],
    ["0.5h", "2026-03-04 15:00:10"],
    ["today", "2026-03-04 00:00:00"],
    ["yesterday", "2026-03-03 00:00:00"],
    ["9:05", "2026-03-04 09:05:00"],
    ["2026-03-01", "2026-03-01 00:00:00"],
    ["2026-03-01 14:30", "2026-03-01 14:30:00"],
    ["2026-03-01T14:30:15", "2026-03-01 14:30:15"],
  ])("%s is %s", (text, at) => {
    expect(parse(text)).toBe(at);
  });

  it("with a zone is where that zone says", () => {
    expect(parseInstant("2026-03-01T14:30:00+02:00", "from", NOW_MS)).toBe(Date.UTC(2026, 2, 1, 12, 30));
    expect(parseInstant("2026-03-01T14:30Z", "from", NOW_MS)).toBe(Date.UTC(2026, 2, 1, 14, 30));
  });

  it.each(["", "tomorrow", "2x", "25:00", "2026-3-1", "2026-13-45", "-2h", "h"])(
    "%j is refused, with what may be written",
    (text) => {
      expect(() => parse(text)).toThrow(/--from .* is no instant\. Write how long ago/);
    },
  );
});

describe("a span", () => {
  it.each([
    ["90s", 90_000],
    ["1w", 604_800_000],
    ["1h1h", 7_200_000],
    ["5", null],
    ["h5", null],
  ])("%s is %s ms", (text, ms) => {
    expect(parseSpan(text)).toBe(ms);
  });
});
