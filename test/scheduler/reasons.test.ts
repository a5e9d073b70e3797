import fc from "fast-check";
import { expect, test } from "vitest";
import { decide } from "../../src/scheduler/decide.ts";
import { GUARD_WORDS, REASON_WORDS } from "../../src/scheduler/reasons.ts";
import { packed } from "./packed.ts";
import { SCENES } from "./scenes.ts";
import { policyAndAnySnapshot } from "./snapshots.ts";

test("a reason occurs only as the kinds of decision that the reference lists for it, and a guard is in the list", () => {
  for (const [reason, { kind }] of SCENES) expect(REASON_WORDS[reason].kinds, reason).toContain(kind);
  fc.assert(
    fc.property(fc.oneof(policyAndAnySnapshot, packed), ([bound, at]) => {
      const { kind, reason, guard } = decide(at, bound);
      expect(REASON_WORDS[reason].kinds, `${reason} as ${kind}`).toContain(kind);
      if (guard !== null) expect(Object.keys(GUARD_WORDS)).toContain(guard);
    }),
    { numRuns: 3_000 },
  );
});

test("every meaning is a sentence", () => {
  const meanings = [...Object.values(REASON_WORDS).map(({ meaning }) => meaning), ...Object.values(GUARD_WORDS)];
  for (const meaning of meanings) expect(meaning).toMatch(/^[A-Za-z].*[a-z`)]\.$/);
});
