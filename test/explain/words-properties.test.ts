// What no sentence may ever say, whatever the facts.

import fc from "fast-check";
import { beforeAll, expect, test } from "vitest";
import type { DecisionReason } from "../../src/domain/decision.ts";
import { CAUSES } from "../../src/domain/wait.ts";
import { becauseWords } from "../../src/explain/because.ts";
import { partWords, phraseOf } from "../../src/explain/causes.ts";
import { deviceNext, deviceSummary } from "../../src/explain/device-words.ts";
import { expectationOf } from "../../src/explain/expectation.ts";
import { summaryOf } from "../../src/explain/summary.ts";
import { REASON_WORDS } from "../../src/scheduler/reasons.ts";
import { anyDevice, KEPT } from "./devices.ts";
import { anyPlace } from "./expectations.ts";
import { CREATED_MS, cancelled, HOLDER, life, moved, NASTY, part, RULES, STATES } from "./words.ts";

/** Without figures, which could be taken for quantities. */
const label = (model: string): string => (model === HOLDER ? "chat" : "coder");

const NBSP = "\u00a0";
const FORBIDDEN = new RegExp(
  [
    "undefined|NaN|null|Infinity|\\[object",
    `(^|[^\\d,.])1${NBSP}(jobs|runs|slots|models)\\b`,
    `[-\\u2212]\\d`,
    "[^\\S\\u00a0]{2}|\\u00a0\\u00a0|\\s\\u00a0|\\u00a0\\s|\\n",
    "\\.\\.|,\\.|: ?\\.|;\\.| \\.| ,|\\(\\)|\\u2026\\.\\.",
    // A quantity is never torn apart.
    "\\d (s|m|h|d|GiB|%|jobs?|slots?|runs?|running|models?)\\b",
  ].join("|"),
);

/** Other people's words are theirs: they are taken out before the rest is looked at. */
function own(text: string): string {
  return text
    .replace(/^Blocked: .*\. Retrying/, "Blocked: x. Retrying")
    .replace(/\((?:[^()]|\([^()]*\))*\)/g, "(x)")
    .replace(/"[^"]*"/g, '"x"');
}

beforeAll(() => {
  process.env["TZ"] = "UTC";
});

const ms = fc.oneof(fc.constantFrom(0, 1, 1_999, 2_000, 59_999, 1e12), fc.integer({ min: 0, max: 100_000_000 }));
const anyPart = fc
  .record({
    cause: fc.constantFrom(...CAUSES),
    ms,
    rule: fc.constantFrom(null, ...RULES),
    by: fc.constantFrom(null, HOLDER),
    stretches: fc.integer({ min: 1, max: 3 }),
    detail: fc.oneof(
      fc.constantFrom(...NASTY),
      fc.record(
        {
          scope: fc.constantFrom("router", "device", "model"),
          who: fc.constantFrom(null, "local", "ada"),
          note: fc.constantFrom(null, "n"),
          error: fc.constantFrom("", "e."),
          running: fc.nat(3),
          limit: fc.nat(3),
          attempt: fc.integer({ min: 1, max: 4 }),
          outcome: fc.constantFrom("", "lost: gone."),
          tier: fc.constantFrom("download", "cold", "warm", "wake"),
        },
        { requiredKeys: [] },
      ),
    ),
  })
  .map(({ cause, ms: length, rule, ...more }) =>
    part(cause, length, { ...more, rule: cause === "held" ? rule : null }),
  );

const anyState = fc.constantFrom(...Object.values(STATES), cancelled("admin"), cancelled("lease_expired"));
const anyEnd = fc.option(
  fc.constantFrom(...(Object.keys(REASON_WORDS) as DecisionReason[])).map((reason) => moved(reason, 90_000)),
  { nil: null },
);

test("no part is described by words that are no words", () => {
  fc.assert(
    fc.property(anyPart, (each) => {
      const { title, text } = partWords(each, label, "serial");
      for (const words of [title, text, phraseOf(each, label, "present", each.stretches)]) {
        expect(own(words)).not.toMatch(FORBIDDEN);
        expect(words).toMatch(/\S$/);
        expect(words).not.toMatch(/\.$/);
      }
    }),
    { numRuns: 2_000 },
  );
});

test("no summary says undefined, NaN, a negative time, `1 jobs`, or tears a quantity apart", () => {
  fc.assert(
    fc.property(anyState, fc.array(anyPart, { maxLength: 6 }), anyEnd, (state, parts, end) => {
      const { text, code } = summaryOf(life(state, parts, { moved: end }), label);
      const words =
        state.status === "failed" ? text.replace(/: The engine answered[^.]*\. upstream: connection reset/, "") : text;
      expect(own(words)).not.toMatch(FORBIDDEN);
      expect(text).toMatch(/^[A-Z].*\.$/);
      expect(code).toMatch(/^[a-z_]+(\.[a-z_]+)*$/);
    }),
    { numRuns: 3_000 },
  );
});

test("no device is described by words that are no words, and the split lies at the end of a sentence", () => {
  fc.assert(
    fc.property(anyDevice, (facts) => {
      const { text, what_length: end } = deviceSummary(facts, label);
      const next = deviceNext(facts, label)?.text ?? "Next: x.";
      for (const words of [text.replace(KEPT.sentence, "Why."), next]) expect(own(words)).not.toMatch(FORBIDDEN);
      expect(text.slice(0, end)).toMatch(/^[A-Z].*[.]$/);
      expect(text.slice(end)).toMatch(/^$|^ \S.*\.$/);
    }),
    { numRuns: 3_000 },
  );
});

test("no expectation is described by words that are no words", () => {
  fc.assert(
    fc.property(anyPlace, (place) => {
      expect(expectationOf(place, place.asOfMs, CREATED_MS).text).not.toMatch(FORBIDDEN);
    }),
    { numRuns: 2_000 },
  );
});

test("what grew has a reason in words", () => {
  const counts = fc.record({ interactive: fc.nat(3), normal: fc.nat(3), batch: fc.nat(3) });
  const told = fc.record({ arrived: counts, position: fc.option(fc.nat(3), { nil: null }) });
  fc.assert(fc.property(told, told, (a, b) => void expect(becauseWords(a, b)).not.toMatch(FORBIDDEN)));
});
