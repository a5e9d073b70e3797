// The instant at which the loop looks again is never too late and never now, found by brute force: time alone is moved on
// and the verdict compared.

import fc from "fast-check";
import { expect, test } from "vitest";
import { decide } from "../../src/scheduler/decide.ts";
import { bindPolicy } from "../../src/scheduler/policies/registry.ts";
import type { Decided } from "../../src/scheduler/verdict.ts";
import { NOW, policyAndAnySnapshot } from "./snapshots.ts";
import { model, resident, snapshot } from "./views.ts";

/** What the engine would act on; scores and waits change all the time and are not meant. */
const core = ({ kind, reason, guard, load, evict, serve }: Decided): string =>
  JSON.stringify([kind, reason, guard, load, evict, String(serve)]);

test("with no event the verdict stands until the next look, to the millisecond", () => {
  fc.assert(
    fc.property(
      policyAndAnySnapshot,
      fc.array(fc.nat({ max: 300_000 }), { maxLength: 12 }),
      ([policy, at], offsets) => {
        const first = decide(at, policy);
        if (!["hold", "idle"].includes(first.kind)) return;
        const stands = core(first);
        const until = first.nextLookAtMs ?? NOW + 1_000_000;
        // Scores cross at any fraction; their instant is the first whole millisecond after.
        const finest = ["model-score", "stint"].includes(policy.name) ? Math.ceil(until) - 1 : until - 0.01;
        const near = [finest, until - 1, until - 2, NOW + 1].map((ms) => (finest % 1 === 0 ? Math.floor(ms) : ms));
        for (const nowMs of [...offsets.map((ms) => NOW + ms), ...near]) {
          if (nowMs < NOW || nowMs >= until) continue;
          const later = core(decide({ ...at, nowMs }, policy));
          if (later !== stands)
            throw new Error(`${stands} became ${later} at +${nowMs - NOW}; next look +${until - NOW}`);
        }
      },
    ),
    { numRuns: 3_000 },
  );
});

test("the next look lies ahead, and looking again and again with no event comes to an end", () => {
  fc.assert(
    fc.property(policyAndAnySnapshot, ([policy, at]) => {
      let nowMs = NOW;
      let looks = 0;
      for (
        let next = decide(at, policy).nextLookAtMs;
        next !== null;
        next = decide({ ...at, nowMs }, policy).nextLookAtMs
      ) {
        expect(next).toBeGreaterThan(nowMs);
        nowMs = next;
        if (!["hold", "idle"].includes(decide({ ...at, nowMs }, policy).kind)) break;
        looks++;
        expect(looks).toBeLessThan(40);
      }
    }),
    { numRuns: 1_500 },
  );
});

test("a challenger whose score will pass the resident's is looked at in the first millisecond at which it has", () => {
  const policy = bindPolicy("model-score", { minResidencySeconds: 0, maxWaitSeconds: null });
  const models = [
    model("A", { jobs: [{ atMs: 99_000 }, { atMs: 99_500 }] }),
    model("B", { jobs: [{ atMs: 96_000 }], priority: 2, loadMs: 10_000 }),
  ];
  const at = snapshot(100_000, models, { residents: [resident("A", { sinceMs: 0 })] });

  const { reason, nextLookAtMs } = decide(at, policy);

  expect(reason).toBe("resident_wins");
  expect(nextLookAtMs).toBe(103_000);
  expect(decide({ ...at, nowMs: 103_000 }, policy).nextLookAtMs).toBe(103_001);
  expect(decide({ ...at, nowMs: 103_001 }, policy)).toMatchObject({
    kind: "swap",
    reason: "challenger_wins",
    load: "B",
  });
});
