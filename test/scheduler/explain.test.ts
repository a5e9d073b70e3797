// Every reason in words, against a golden file, and what no sentence may ever say.

import fc from "fast-check";
import { expect, test } from "vitest";
import { decide } from "../../src/scheduler/decide.ts";
import { holdRule, sentence } from "../../src/scheduler/explain.ts";
import type { Decided } from "../../src/scheduler/verdict.ts";
import { duration, score } from "../../src/scheduler/wording.ts";
import { packed } from "./packed.ts";
import { PAIRS, REASONS, SCENES } from "./scenes.ts";
import { policyAndAnySnapshot } from "./snapshots.ts";

const labels = (name: string): string => ({ A: "chat", B: "coder", C: "embed" })[name] ?? name;
const say = ({ against, ...verdict }: Decided): string =>
  sentence(verdict, labels, { maxWaitMs: 120_000, minResidencyMs: 30_000, against });
const linesOf = (): string[] =>
  [...SCENES, ...PAIRS].map(([reason, verdict]) => `${`${verdict.kind} ${reason}`.padEnd(26)} ${say(verdict)}`);

test("every reason comes of a real decision and has its sentence", async () => {
  for (const [reason, verdict] of [...SCENES, ...PAIRS])
    expect([verdict.reason, say(verdict)]).toEqual([reason, expect.any(String)]);
  expect(new Set(SCENES.map(([reason]) => reason))).toEqual(new Set(REASONS));
  await expect(`${linesOf().join("\n")}\n`.replaceAll("\u00a0", "~")).toMatchFileSnapshot("sentences.golden.txt");
});

const FORBIDDEN =
  /undefined|NaN|null|Infinity|\[object|(^|[^\d])1\u00a0jobs|[-\u2212]\d+(\.\d+)?\u00a0[smh]\b|\s\s|\.\.|\n/;
/** One of several is not spoken of as if it were alone, and several not as if they were one. */
const ONE_OF_SEVERAL = /\band (chat|coder|embed|[D-F]) (is|was|has|waits)\b|\band (chat|coder|embed|[D-F])'s|: it /;

test("no sentence says undefined, NaN, a negative time or `1 jobs`, and each is a sentence", () => {
  for (const [, verdict] of SCENES) expect(say(verdict)).not.toMatch(FORBIDDEN);
  fc.assert(
    fc.property(fc.oneof(policyAndAnySnapshot, packed), ([bound, at]) => {
      const { against, ...verdict } = decide(at, bound);
      for (const facts of [{}, { maxWaitMs: bound.guards.maxWaitMs, against }]) {
        const words = sentence(verdict, labels, facts);
        expect(words).not.toMatch(FORBIDDEN);
        expect(words).toMatch(/^[A-Za-z].*\.$/);
      }
    }),
    { numRuns: 2_000 },
  );
});

test("what stays is never said to have been loaded, and several models are several", () => {
  fc.assert(
    fc.property(fc.oneof(policyAndAnySnapshot, packed), ([bound, at]) => {
      const { against, ...verdict } = decide(at, bound);
      const words = sentence(verdict, labels, { maxWaitMs: bound.guards.maxWaitMs, against });
      if (verdict.kind === "hold" || verdict.kind === "idle") expect(words).not.toMatch(/^(Loaded|Swapped|Unloaded)/);
      if (/^(Kept|Unloaded|Serving|Idle\.) [\w, ]+ and /.test(words)) expect(words).not.toMatch(ONE_OF_SEVERAL);
    }),
    { numRuns: 2_000 },
  );
});

test("a queue is held by the rule that its device's verdict names", () => {
  const rules = SCENES.map(([reason, verdict]) => [`${verdict.kind} ${reason}`, holdRule(verdict)]);

  expect(Object.fromEntries(rules)).toMatchObject({
    "hold resident_wins": "score",
    "hold min_residency": "min_residency",
    "hold serve_first": "serve_first",
    "hold forced_swap_spent": "forced_swap_spent",
    "hold finish": "order",
    "hold pinned": "pinned",
    "hold no_room": "no_room",
    "hold blocked": "no_room",
    "hold loading": "switching_other",
    "hold draining": "switching_other",
    "hold unloading": "switching_other",
    "swap ceiling": "switching_other",
    "unload idle_timeout": "own_move",
    "hold serving": null,
    "hold back_off": null,
    "idle no_work": null,
  });
});

test("durations and scores are short, exact enough and never negative times", () => {
  const plain = (text: string): string => text.replaceAll("\u00a0", " ");

  expect(
    [0, -5, 49, 400, 2_600, 9_949, 9_950, 41_499, 59_600, 60_000, 1_861_000, 7_500_000, 3_600_000].map((ms) =>
      plain(duration(ms)),
    ),
  ).toEqual([
    "0 s",
    "0 s",
    "0 s",
    "0.4 s",
    "2.6 s",
    "9.9 s",
    "10 s",
    "41 s",
    "1 m",
    "1 m",
    "31 m 01 s",
    "2 h 05 m",
    "1 h",
  ]);
  expect([0, -0.01, 2.625, -7.5, 99.96, 2_314.4, -1_234_567].map(score)).toEqual([
    "0",
    "0",
    "2.6",
    "\u22127.5",
    "100",
    "2,314",
    "\u22121,234,567",
  ]);
});
