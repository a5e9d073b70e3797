// Decisions, waits and loads.

import { describe, expect, test } from "vitest";
import type { Decision, Scored } from "../../src/domain/decision.ts";
import { DEFAULT_POOL, type DecisionId, type InstanceId, type JobId, type ModelName } from "../../src/domain/ids.ts";
import type { LoadRecord } from "../../src/domain/journal.ts";
import type { Wait } from "../../src/domain/wait.ts";
import type { Bench } from "./contract.ts";
import { added, authority, DEVICE, INSTANCE, MODEL, nextHex, OTHER_MODEL } from "./given.ts";

const THIRD = "gamma" as ModelName;

function decision(over: Partial<Decision>): Decision {
  return {
    id: `dec_${nextHex()}` as DecisionId,
    pool: DEFAULT_POOL,
    policy: "model-score",
    atMs: 1_790_000_000_000,
    wallMs: 1_790_000_000_000,
    sentence: "load alpha: nothing is resident",
    kind: "load",
    reason: "cold",
    guard: null,
    device: DEVICE,
    load: MODEL,
    evict: [],
    resident: [],
    models: [],
    jobs: [],
    nextLookAtMs: null,
    ...over,
  };
}

const scored = (model: ModelName, depth: number): Scored => ({
  ...{ model, depth, oldestWaitMs: 10, priority: 1, terms: { age_term: 0.1 }, switchCost: 2 },
  ...{ score: -1.9, eligible: true, whyNot: null },
});
const wait = (over: Partial<Wait>): Wait => ({
  ...{ model: MODEL, cause: "loading", rule: null, by: null, device: DEVICE, decision: null, fromMs: 0, toMs: null },
  ...over,
});
const load = (model: ModelName, endedAtMs: number): LoadRecord => ({
  ...{ instance: `ins_${nextHex()}` as InstanceId, model, device: DEVICE, decision: null, startedAtMs: endedAtMs - 5 },
  ...{ endedAtMs, outcome: "ready", tier: "cold", detail: null },
});

export function exerciseLog({ open, reopen }: Bench): void {
  describe("log", () => {
    test("a decision rides on the commit of what follows it, whole", async () => {
      const { store } = await open();
      const made = decision({ models: [scored(MODEL, 3)], nextLookAtMs: 12.5 });

      store.append([{ type: "decision", decision: made }]);
      await added(store);

      expect(await store.decision(made.id)).toEqual(made);
    });

    test("what was learned is noted in place of what was noted before, and outlives its router", async () => {
      const given = await open();
      const { store } = given;

      store.append([
        {
          type: "learned",
          notes: [
            { key: "model alpha", note: { runMs: 5 } },
            { key: "b", note: [1] },
          ],
        },
      ]);
      store.append([{ type: "learned", notes: [{ key: "model alpha", note: { runMs: 7 } }] }]);
      await store.ping();

      const after = await reopen(given);
      expect(Object.fromEntries(await after.store.hints.learned())).toEqual({ "model alpha": { runMs: 7 }, b: [1] });
    });

    test("of what was learned the newest thousand notes are kept", async () => {
      const { store, clock } = await open();
      const notes = (from: number) => Array.from({ length: 600 }, (_, i) => ({ key: `k${from + i}`, note: {} }));

      store.append([{ type: "learned", notes: notes(0) }]);
      await clock.runUntil(clock.nowMs() + 60_000);
      store.append([{ type: "learned", notes: notes(600) }]);
      await store.ping();

      const kept = await store.hints.learned();
      expect(kept.size).toBe(1_000);
      expect(notes(600).filter(({ key }) => !kept.has(key))).toEqual([]);
    });

    test("alone it is written within a second", async () => {
      const { store, clock } = await open();
      const made = decision({});

      store.append([{ type: "decision", decision: made }]);
      const atOnce = await store.decision(made.id);
      await clock.runUntil(clock.nowMs() + 1_000);
      await expect.poll(() => store.decision(made.id)).toEqual(made);

      expect(atOnce).toBeNull();
    });

    test("decisions are listed newest first, by model and by job", async () => {
      const { store, owner } = await open();
      const job = await added(store);
      const other = `job_${nextHex()}` as JobId;
      const first = decision({ load: MODEL, jobs: [other] });
      const second = decision({ kind: "swap", load: OTHER_MODEL, evict: [MODEL], jobs: [job.id] });
      const third = decision({ kind: "hold", load: null, models: [scored(THIRD, 1), scored(MODEL, 0)] });
      const dispatch = { decision: first.id, score: null, queueWaitMs: 0, reorder: null };
      store.append([first, second, third].map((each) => ({ type: "decision", decision: each })));
      await store.claim(authority(owner), [{ id: job.id, instance: INSTANCE, dispatch }]);

      const ids = async (query: object): Promise<string[]> =>
        (await store.decisions({ limit: 10, ...query })).data.map((each) => each.id);

      expect(await ids({})).toEqual([third.id, second.id, first.id]);
      expect(await ids({ after: third.id })).toEqual([second.id, first.id]);
      expect(await ids({ model: MODEL })).toEqual([second.id, first.id]);
      expect(await ids({ model: THIRD })).toEqual([third.id]);
      expect(await ids({ job: job.id })).toEqual([second.id, first.id]);
      expect(await ids({ job: job.id, model: OTHER_MODEL })).toEqual([second.id]);
      expect(await store.decisions({ limit: 2 })).toMatchObject({ hasMore: true });
    });

    test("a model's waits are found where they touch the span asked for", async () => {
      const { store } = await open();
      store.append([
        { type: "wait.open", wait: wait({ cause: "loading", fromMs: 100 }) },
        { type: "wait.close", model: MODEL, toMs: 200 },
        { type: "wait.open", wait: wait({ model: OTHER_MODEL, cause: "held", rule: "score", by: MODEL, fromMs: 150 }) },
        { type: "wait.open", wait: wait({ cause: "own_queue", fromMs: 200 }) },
        { type: "wait.open", wait: wait({ cause: "draining", fromMs: 300 }) },
      ]);
      await store.ping();

      const spans = async (fromMs: number, toMs: number): Promise<unknown[]> =>
        (await store.waits(MODEL, fromMs, toMs)).map((each) => [each.cause, each.fromMs, each.toMs]);

      expect(await spans(120, 180)).toEqual([["loading", 100, 200]]);
      expect(await spans(250, 400)).toEqual([
        ["own_queue", 200, 300],
        ["draining", 300, null],
      ]);
      expect(await spans(0, 99)).toEqual([]);
      expect(await store.waits(OTHER_MODEL, 0, 1_000)).toEqual([
        wait({ model: OTHER_MODEL, cause: "held", rule: "score", by: MODEL, fromMs: 150 }),
      ]);
    });

    test("the last loads of each model come newest first", async () => {
      const { store } = await open();
      const loads = [load(MODEL, 10), load(MODEL, 20), load(OTHER_MODEL, 30), load(MODEL, 40)];
      store.append(loads.map((each) => ({ type: "load", load: each })));
      await store.ping();

      const last = await store.loads(2);

      expect(last).toEqual([loads[3], loads[2], loads[1]]);
    });

    test("a log entry that cannot be written harms nothing else", async () => {
      const { store } = await open();
      const made = decision({});
      store.append([{ type: "decision", decision: made }]);
      store.append([{ type: "decision", decision: made }]);
      store.append([{ type: "load", load: load(MODEL, 10) }]);

      const job = await added(store);

      expect(await store.job(job.id)).toEqual(job);
      expect(await store.loads(1)).toHaveLength(1);
    });
  });
}
