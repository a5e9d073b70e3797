// Which term put a started job before others.

import fc from "fast-check";
import { expect, test } from "vitest";
import { bindPolicy } from "../../src/scheduler/policies/registry.ts";
import type { BoundPolicy } from "../../src/scheduler/policy.ts";
import { reorderCause } from "../../src/scheduler/reorder.ts";
import type { ModelView } from "../../src/scheduler/snapshot.ts";
import { anyPolicy, NOW, snapshotFor } from "./snapshots.ts";
import { model, named, type QueuedJob } from "./views.ts";

const SERIAL = bindPolicy("serial", {});
const SCORE = bindPolicy("model-score", {});

/** The cause for A's head, with these queues. */
function cause(
  policy: BoundPolicy,
  own: readonly QueuedJob[],
  other: readonly QueuedJob[] = [],
  rest: Partial<ModelView> = {},
) {
  const { ranking } = policy;
  const a = model("A", { jobs: own, ranking });
  const models = [a, model("B", { jobs: other, ranking, ...rest })];
  if (a.head === null) throw new Error("A has no job to start.");
  return reorderCause({ nowMs: NOW, models }, named("A"), a.head, policy);
}

test("the earliest job of all goes in order", () => {
  expect(cause(SCORE, [{ atMs: 1 }, { atMs: 2 }], [{ atMs: 3 }])).toBeNull();
});

test("a later job of the same model goes first by its priority", () => {
  expect(cause(SCORE, [{ atMs: 1 }, { atMs: 2, priority: 5 }])).toBe("priority");
});

test("a job goes before a more urgent one when it has waited so much longer", () => {
  expect(cause(SCORE, [{ atMs: 0 }, { atMs: 3_600_001, priority: 60 }])).toBe("aging");
  expect(cause(SERIAL, [{ atMs: 0 }], [{ atMs: 60_001, priority: 1 }])).toBe("aging");
  expect(cause(SCORE, [{ atMs: 0 }], [{ atMs: 60_001, priority: 1 }])).toBeNull();
});

test("a later job goes before another model's because its own is loaded", () => {
  expect(cause(SCORE, [{ atMs: 5 }], [{ atMs: 1 }])).toBe("resident");
  expect(cause(SCORE, [{ atMs: 5, priority: 100 }], [{ atMs: 1 }])).toBe("resident");
});

test("under serial the bonus is the cause where it makes the difference, and residency where not even it does", () => {
  expect(cause(SERIAL, [{ atMs: 5_000 }], [{ atMs: 1_000 }])).toBe("swap_affinity");
  expect(cause(SERIAL, [{ atMs: 5_000 }], [{ atMs: 1_000, priority: 11 }])).toBe("resident");
  expect(cause(SERIAL, [{ atMs: 5_000, priority: 20 }], [{ atMs: 1_000 }])).toBe("priority");
});

test("jobs of a model that may not be loaded now were not passed over", () => {
  expect(cause(SCORE, [{ atMs: 5 }], [{ atMs: 1 }], { paused: true })).toBeNull();
  expect(cause(SCORE, [{ atMs: 5 }], [{ atMs: 1 }], { retryAtMs: NOW + 1 })).toBeNull();
});

test("a job is not blamed for one of its own model that started just before it, which the view still shows", () => {
  const stale = model("A", {
    jobs: [
      { id: 1, atMs: 1 },
      { id: 2, atMs: 2 },
    ],
  });
  const next = {
    ...stale.oldest,
    id: model("A", { jobs: [{ id: 2, atMs: 2 }] }).head?.id,
    acceptedAtMs: 2,
    rank: 2,
    priority: 0,
  };
  if (next.id === undefined) throw new Error("There is no second job.");

  expect(reorderCause({ nowMs: NOW, models: [stale] }, named("A"), { ...next, id: next.id }, SCORE)).toBeNull();
});

test("a job that arrived first and is the most urgent never counts as moved", () => {
  const some = anyPolicy.chain((policy) => snapshotFor(policy).map((at) => [policy, at] as const));
  fc.assert(
    fc.property(some, ([policy, at]) => {
      for (const each of at.models) {
        const { head } = each;
        if (head === null) continue;
        const all = at.models.flatMap((m) => [m.head, m.oldest, ...Object.values(m.bands).map((b) => b.oldest)]);
        const first = all.every(
          (other) => other === null || (other.acceptedAtMs >= head.acceptedAtMs && other.priority <= head.priority),
        );
        const ties = all.filter(
          (other) => other !== null && other.id !== head.id && other.acceptedAtMs === head.acceptedAtMs,
        );
        if (first && ties.length === 0) expect(reorderCause(at, each.model, head, policy)).toBeNull();
      }
    }),
    { numRuns: 1_000 },
  );
});
