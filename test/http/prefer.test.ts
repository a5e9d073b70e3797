// RFC 7240 as clients write it, and as fuzzers do.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parsePrefer } from "../../src/http/prefer.ts";

describe("Prefer", () => {
  it.each([
    ["Respond-Async", true, null],
    ["respond-async, wait=10", true, 10],
    ['foo="a,respond-async"', false, null],
    ['foo="a\\",respond-async"', false, null],
    ["respond-async; x=1", true, null],
    ['respond-async; x="a,b"; y, wait=3', true, 3],
    ['wait = "7"', false, 7],
    ["wait=5,wait=60", false, 5],
    ["wait=-1", false, null],
    ["wait=-1, wait=5", false, null],
    ["wait=1e9", false, null],
    ["wait=1.5", false, null],
    ["wait=10s", false, null],
    ["wait=999999999999999999999", false, 60],
    ["wait", false, 60],
    ["wait=", false, 60],
    ['wait=""', false, 60],
    ["wait=0", false, 0],
    ['respond-async=""', true, null],
    [",,respond-async,", true, null],
    ["RESPOND-ASYNC\t,\tWAIT\t=\t2", true, 2],
    ["respond-async now", false, null],
    ["respond-asynchronously", false, null],
    ["", false, null],
    [null, false, null],
  ])("%s means respond-async %s, wait %s", (header, respondAsync, waitSeconds) => {
    expect(parsePrefer(header)).toEqual({ respondAsync, waitSeconds });
  });

  it("never throws and never waits beyond a minute", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 400 }), (header) => {
        const { waitSeconds } = parsePrefer(header);
        return waitSeconds === null || (Number.isInteger(waitSeconds) && waitSeconds >= 0 && waitSeconds <= 60);
      }),
    );
  });

  it("reads a preference after any junk that is well-formed", () => {
    const word = fc.stringMatching(/^[a-z]{1,8}$/).filter((name) => name !== "wait");
    fc.assert(
      fc.property(fc.array(word, { maxLength: 50 }), fc.nat(60), (junk, waitSeconds) => {
        expect(parsePrefer([...junk, `wait=${waitSeconds}`].join(", ")).waitSeconds).toBe(waitSeconds);
      }),
    );
  });

  it.each([
    ["commas", ",".repeat(8192)],
    ["quotes", '"'.repeat(8192)],
    ["backslashes in quotes", `a="${"\\".repeat(8192)}`],
    ["equals signs", "=".repeat(8192)],
    ["one name", "a".repeat(8192)],
  ])("costs no more than a walk through 8 KiB of %s", (_what, junk) => {
    const startedMs = performance.now();
    for (let i = 0; i < 20; i++) parsePrefer(junk);

    expect((performance.now() - startedMs) / 20).toBeLessThan(50);
  });
});
