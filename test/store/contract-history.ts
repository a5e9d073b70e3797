// Past traffic, read back: what it was, page by page, and how long it is kept.

import { describe, expect, test } from "vitest";
import type { DecisionId, JobId } from "../../src/domain/ids.ts";
import { DEFAULT_POOL, uuidV7Hex } from "../../src/domain/ids.ts";
import type { Tuning } from "../../src/domain/tuning.ts";
import type { History, PastJob } from "../../src/store/history.ts";
import type { Bench } from "./contract.ts";
import { added, DEVICE, finished, INSTANCE, MODEL, newJob, OTHER_MODEL } from "./given.ts";

const DAY_MS = 86_400_000;
const START_MS = 1_790_000_000_000;
const ALL = { fromMs: START_MS - DAY_MS, toMs: START_MS + 400 * DAY_MS };

const idAt = (atMs: number, n: number): JobId => `job_${uuidV7Hex(atMs, n, new Uint8Array(8))}` as JobId;

async function everyJob(history: History, limit: number): Promise<PastJob[]> {
  const found: PastJob[] = [];
  for (let after: string | null = null; ; ) {
    const page = await history.jobs({ ...ALL, after, limit });
    found.push(...page.data);
    if (page.next === null) return found;
    after = page.next;
  }
}

export function exerciseHistory({ open }: Bench): void {
  describe("history", () => {
    test("jobs come in pages in order, whether their rows are there or have gone", async () => {
      const { store, owner, clock } = await open({ resultTtlMs: 1_000 });
      const old = [];
      for (let i = 0; i < 3; i++)
        old.push((await finished(store, owner, "a", newJob({ id: idAt(START_MS + i, i) }))).id);
      await clock.runUntil(clock.nowMs() + 2_000);
      await store.prune();
      await clock.runUntil(clock.nowMs() + DAY_MS + 1);
      await store.prune();
      const young = (await finished(store, owner, "a", newJob({ id: idAt(clock.nowMs(), 0), model: OTHER_MODEL }))).id;
      const live = (await added(store, newJob({ id: idAt(clock.nowMs() + 1, 1), priority: 100 }))).id;

      const found = await everyJob(store.history, 2);

      expect(await store.job(old[0] as JobId)).toBeNull();
      expect(found.map(({ id }) => id)).toEqual([...old, young, live]);
      expect(found[0]).toMatchObject({ model: MODEL, status: "succeeded", runs: [{ outcome: "succeeded" }] });
      expect(found[0]?.runs[0]?.endedAtMs).toBe(found[0]?.finishedAtMs);
      expect(found[4]).toMatchObject({ status: "queued", priority: 100, finishedAtMs: null, runs: [] });
      expect(await store.history.span()).toEqual({ fromMs: START_MS, toMs: found[4]?.acceptedAtMs });
    });

    test("a range holds the jobs whose ids were made in it, its start included and its end not", async () => {
      const { store } = await open();
      for (const at of [10, 20, 30]) await added(store, newJob({ id: idAt(START_MS + at, 0) }));

      const page = await store.history.jobs({ fromMs: START_MS + 10, toMs: START_MS + 30, after: null, limit: 10 });

      // The lowest id of an instant is itself no job's: ids have random bits.
      expect(page.data.map(({ id }) => id)).toEqual([idAt(START_MS + 20, 0)]);
    });

    test("a trace of a job goes after thirty days", async () => {
      const { store, owner, clock } = await open({ resultTtlMs: 1_000 });
      await finished(store, owner, "a", newJob({ id: idAt(clock.nowMs(), 1) }));
      await clock.runUntil(clock.nowMs() + 2_000);
      await store.prune();
      await clock.runUntil(clock.nowMs() + 29 * DAY_MS);
      await store.prune();
      const kept = await everyJob(store.history, 10);
      await clock.runUntil(clock.nowMs() + 2 * DAY_MS);

      await store.prune();

      expect(kept).toHaveLength(1);
      expect(await everyJob(store.history, 10)).toEqual([]);
    });

    test("a setup is kept where it differs from the last, and the one in force at the start of a range is part of it", async () => {
      const { store } = await open();
      const setups = [{ policy: "fifo" }, { policy: "fifo" }, { policy: "longest" }, { policy: "serial" }];
      store.append(setups.map((setup, i) => ({ type: "setup", atMs: 100 * i, setup })));
      await store.ping();

      const found = await store.history.setups({ fromMs: 250, toMs: 300 });

      expect(found).toEqual([{ atMs: 200, setup: { policy: "longest" } }]);
      expect((await store.history.setups({ fromMs: 0, toMs: 1_000 })).map(({ atMs }) => atMs)).toEqual([0, 200, 300]);
    });

    test("moves and loads come by time, in pages, and stays are left out", async () => {
      const { store } = await open();
      const verdict = { guard: null, device: DEVICE, resident: [], models: [], jobs: [], nextLookAtMs: null } as const;
      const named = { pool: DEFAULT_POOL, policy: "fifo", wallMs: 0, sentence: "" } as const;
      const decision = (n: number, kind: "swap" | "hold") => ({
        ...{ ...verdict, ...named, kind, reason: "arrival_order" as const, load: MODEL, evict: [OTHER_MODEL] },
        id: `dec_${n}` as DecisionId,
        atMs: 10 * n,
      });
      const load = {
        instance: INSTANCE,
        model: MODEL,
        device: DEVICE,
        decision: null,
        outcome: "ready",
        tier: "cold",
      } as const;
      store.append([1, 2, 3].map((n) => ({ type: "decision", decision: decision(n, n === 2 ? "hold" : "swap") })));
      store.append(
        [5, 5, 9].map((endedAtMs) => ({ type: "load", load: { ...load, startedAtMs: 0, endedAtMs, detail: null } })),
      );
      await store.ping();

      const range = { fromMs: 0, toMs: 1_000, limit: 1 };
      const first = await store.history.moves({ ...range, after: null });
      const second = await store.history.moves({ ...range, after: first.next });
      const loads = await store.history.loads({ ...range, limit: 2, after: null });
      const more = await store.history.loads({ ...range, limit: 2, after: loads.next });

      expect([...first.data, ...second.data].map(({ id }) => id)).toEqual(["dec_1", "dec_3"]);
      expect(first.data[0]).toMatchObject({ kind: "swap", load: MODEL, evict: [OTHER_MODEL], policy: "fifo" });
      expect([...loads.data, ...more.data].map(({ endedAtMs }) => endedAtMs)).toEqual([5, 5, 9]);
      expect((await store.history.loads({ fromMs: 5, toMs: 9, limit: 9, after: null })).data).toHaveLength(2);
    });

    test("the newest tuning is the first", async () => {
      const { store } = await open();
      const tuning: Tuning = {
        state: "shadow",
        atMs: 1,
        untilMs: 2,
        policy: "fifo",
        set: {},
        base: {},
        watchMs: 1,
        reason: "",
      };
      store.append([tuning, { ...tuning, state: "live" as const }].map((each) => ({ type: "tuning", tuning: each })));
      await store.ping();

      expect((await store.history.tunings(1)).map(({ state }) => state)).toEqual(["live"]);
    });
  });
}
