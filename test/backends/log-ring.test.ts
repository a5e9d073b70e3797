// The bounded log: what it keeps, what followers see, and lines out of bytes cut anywhere.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { LineCutter, LogRing } from "../../src/backends/log-ring.ts";

const numbered = (count: number): string[] => Array.from({ length: count }, (_, i) => `line ${i}`);

describe("the ring", () => {
  it("keeps the newest lines within both bounds, whatever comes", () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ maxLength: 60 }), { maxLength: 200 }),
        fc.integer({ min: 1, max: 20 }),
        fc.integer({ min: 0, max: 400 }),
        (lines, maxLines, maxBytes) => {
          const ring = new LogRing({ maxLines, maxBytes });
          const one = new LogRing({ maxLines: 1_000, maxBytes: 1e9 });
          for (const line of lines) {
            ring.push(line);
            one.push(line);
          }
          const kept = ring.last(1_000);
          expect(kept.length).toBeLessThanOrEqual(maxLines);
          expect(kept.reduce((sum, line) => sum + line.length * 2, 0)).toBeLessThanOrEqual(maxBytes);
          expect(kept).toEqual(one.last(kept.length));
        },
      ),
    );
  });

  it("takes colours and control characters out, and cuts what is too long", () => {
    const ring = new LogRing({ maxLines: 10, maxBytes: 1e6 });

    ring.push("\u001b[32mINFO\u001b[0m a\tb\u0007 ");
    ring.push("x".repeat(5_000));

    expect(ring.last(2)).toEqual(["INFO a b", "x".repeat(1_000)]);
  });

  it("is followed from its newest lines on, in order, until nobody listens", async () => {
    const ring = new LogRing({ maxLines: 10, maxBytes: 1e6 });
    const leaves = new AbortController();
    for (const line of ["a", "b", "c"]) ring.push(line);
    const seen: string[] = [];
    const following = (async () => {
      for await (const line of ring.follow(leaves.signal, 2)) {
        seen.push(line);
        if (line === "e") leaves.abort();
      }
    })();

    await Promise.resolve();
    ring.push("d");
    ring.push("e");
    await following;

    expect(seen).toEqual(["b", "c", "d", "e"]);
  });

  it("tells a follower that was too slow what it missed, and holds nothing for it", async () => {
    const ring = new LogRing({ maxLines: 3, maxBytes: 1e6 });
    const leaves = new AbortController();
    const follower = ring.follow(leaves.signal);
    const first = follower.next();
    ring.push("line 0");
    await first;

    for (const line of numbered(20).slice(1)) ring.push(line);

    const rest = [await follower.next(), await follower.next()].map(({ value }) => value);
    expect(rest).toEqual(["… 16 lines were dropped …", "line 17"]);
    expect(ring.last(100)).toHaveLength(3);
  });
});

describe("lines out of bytes", () => {
  it("are the same wherever the bytes are cut", () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom("a", "é", "日本", "\n", "\r", "\r\n", " ")),
        fc.array(fc.nat(60)),
        (parts, cuts) => {
          const bytes = Buffer.from(parts.join(""));
          const cutter = new LineCutter();
          const lines: string[] = [];
          let from = 0;
          for (const cut of [...cuts.map((at) => Math.min(at, bytes.length)).sort((a, b) => a - b), bytes.length]) {
            lines.push(...cutter.push(bytes.subarray(from, cut)));
            from = cut;
          }
          const rest = cutter.end();
          expect([...lines, ...(rest === null ? [] : [rest])]).toEqual(
            parts
              .join("")
              .split(/[\r\n]+/)
              .filter((line) => line !== ""),
          );
        },
      ),
    );
  });

  it("that never end are held up to a bound", () => {
    const cutter = new LineCutter(100);

    for (let i = 0; i < 1_000; i++) cutter.push(Buffer.alloc(1_000, "x"));

    expect(cutter.end()).toHaveLength(100);
  });
});
