// What models did on devices, as it is written down: every change once, and no row per job.

import { describe, expect, it } from "vitest";
import type { Grain, Span } from "../../src/domain/change.ts";
import type { ModelName } from "../../src/domain/ids.ts";
import { openRig, type Rig } from "./rig.ts";

const TWO = { alpha: { loadSeconds: 5, unloadSeconds: 2 }, beta: { loadSeconds: 3 } };
const DURABLE = { leaseMs: null };

async function stored(rig: Rig, grain: Grain = "fine"): Promise<Span[]> {
  await rig.advance(2);
  const { spans } = await rig.store.timeline.spans({ fromMs: 0, toMs: Number.MAX_SAFE_INTEGER }, grain, 10_000);
  return [...spans];
}

/** Seconds since the rig's start. */
const told = (rig: Rig, spans: readonly Span[], model: string): [string, number, number | null][] =>
  spans
    .filter((span) => span.model === model)
    .map(({ phase, fromMs, toMs }) => [phase, (fromMs - rig.startMs) / 1000, toMs && (toMs - rig.startMs) / 1000]);

describe("spans", () => {
  it("tell a swap from drain to load, under the decision that made it, and touch", async () => {
    const rig = await openRig({ models: TWO, scheduler: { policy: "fifo" } });
    await rig.submit("alpha", { ...DURABLE, tokens: 640 });
    await rig.advance(8);
    await rig.submit("beta", DURABLE);
    await rig.advance(60);

    const spans = await stored(rig);

    const alpha = told(rig, spans, "alpha");
    expect(alpha.map(([phase]) => phase)).toEqual(["loading", "serving", "unloading"]);
    expect(alpha.slice(1).map(([, from]) => from)).toEqual(alpha.slice(0, -1).map(([, , to]) => to));
    expect(told(rig, spans, "beta").map(([phase]) => phase)).toEqual(["loading", "serving", "idle"]);
    const swap = rig.moves().find(({ kind }) => kind === "swap");
    const moved = spans.filter(({ decision }) => decision === swap?.id).map(({ phase, model }) => `${model} ${phase}`);
    expect(moved.sort()).toEqual(["alpha unloading", "beta loading"]);
    const [load] = await rig.store.loads(1);
    expect(told(rig, spans, "beta")[0]?.slice(1)).toEqual(
      [load?.startedAtMs, load?.endedAtMs].map((ms) => ((ms ?? 0) - rig.startMs) / 1000),
    );
  });

  it("tell a drain from the unload after it", async () => {
    const rig = await openRig({ models: TWO });
    await rig.submit("alpha", { ...DURABLE, tokens: 640 });
    await rig.advance(8);
    await rig.engine.operator.unload("alpha" as ModelName, false);
    await rig.advance(30);

    const alpha = told(rig, await stored(rig), "alpha");

    expect(alpha.map(([phase, from, to]) => [phase, (to ?? 0) - from])).toEqual([
      ["loading", 5],
      ["serving", 3],
      ["draining", 7],
      ["unloading", 2],
    ]);
  });

  it("say that a load failed", async () => {
    const rig = await openRig({ models: TWO, faults: { load: () => ({ kind: "fail" }) } });
    await rig.submit("alpha", DURABLE);
    await rig.advance(8);

    expect(told(rig, await stored(rig), "alpha")[0]?.[0]).toBe("failed");
  });

  it("are few, however many jobs there are, and coarser ones fewer", async () => {
    const rig = await openRig({ models: { alpha: { loadSeconds: 1, concurrency: 1 } } });
    // A quarter second each, with half a second between.
    rig.schedule(
      "alpha",
      Array.from({ length: 200 }, (_, i) => i * 0.75),
      { tokens: 16 },
    );
    // And again each ten seconds.
    rig.schedule(
      "alpha",
      Array.from({ length: 20 }, (_, i) => 200 + i * 10),
      { tokens: 16 },
    );
    await rig.advance(500);

    const fine = told(rig, await stored(rig), "alpha");
    const coarse = told(rig, await stored(rig, "coarse"), "alpha");

    expect(rig.of("job.finished")).toHaveLength(220);
    expect(fine).toHaveLength(1 + 2 * 21);
    expect(coarse.map(([phase]) => phase)).toEqual(["loading", "serving", "idle"]);
    // It ends with the last job, not with the pause that told so.
    expect(coarse[1]?.[2]).toBeCloseTo(390.25, 1);
  });

  it("end where the router gave its last sign, when it was killed", async () => {
    const rig = await openRig({ models: TWO });
    await rig.submit("alpha", { ...DURABLE, tokens: 6_400 });
    await rig.advance(20);
    const open = (await stored(rig)).filter(({ toMs }) => toMs === null);

    const { database } = rig;
    const next = await openRig({ models: TWO, database, clock: rig.clock, seed: 2 });

    const before = await next.store.timeline.spans({ fromMs: 0, toMs: rig.clock.nowMs() + 1 }, "fine", 100);
    const same = before.spans.find(({ fromMs, phase }) => phase === "serving" && fromMs === open[0]?.fromMs);
    expect(open).toHaveLength(1);
    expect(same?.toMs).not.toBeNull();
  });
});

describe("minutes", () => {
  it("add up to the jobs, by model and all together", async () => {
    const rig = await openRig({ models: TWO });
    rig.schedule(
      "alpha",
      Array.from({ length: 90 }, (_, i) => i * 2),
      { tokens: 64 },
    );
    rig.schedule(
      "beta",
      Array.from({ length: 30 }, (_, i) => i * 6),
      { tokens: 64, priority: 100 },
    );
    await rig.advance(600);

    const rows = rig.database
      .prepare(
        "SELECT model, sum(started) AS started, sum(finished) AS finished, max(queued_max) AS most FROM minutes GROUP BY model",
      )
      .all() as { model: string; started: number; finished: number; most: number }[];

    const of = (model: string) => rows.find((row) => row.model === model);
    expect([of("alpha")?.finished, of("beta")?.finished, of("")?.finished]).toEqual([90, 30, 120]);
    expect(of("")?.started).toBe(rig.of("job.dispatched").length);
    expect(of("")?.most).toBeGreaterThan(0);
    expect(rig.database.prepare("SELECT count(*) AS n FROM minutes WHERE at_ms % 60000 <> 0").get()).toEqual({ n: 0 });
  });

  it("are not written while nothing happens", async () => {
    const rig = await openRig({ models: TWO });
    await rig.submit("alpha", DURABLE);
    await rig.advance(600);
    const after = rig.database.prepare("SELECT count(*) AS n FROM minutes").get();
    await rig.advance(3_600);

    expect(rig.database.prepare("SELECT count(*) AS n FROM minutes").get()).toEqual(after);
  });
});
