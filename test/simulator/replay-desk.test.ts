import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { createReplayDesk, type ReplayDesk, type ReplayView } from "../../src/simulator/replay-desk.ts";
import { createSimulatedIds } from "../../src/simulator/seeded.ts";
import { VirtualClock } from "../../src/simulator/virtual-clock.ts";
import { openStoreFile } from "../../src/store/sqlite/store-file.ts";
import { terminal } from "../cli/terminal.ts";
import { HOUR_MS, madeDay, record, SERVED } from "./recorded-day.ts";

const folder = mkdtempSync(join(tmpdir(), "sir-desk-"));
const path = join(folder, "sir.db");
let startMs = 0;
const desks: { desk: ReplayDesk; close(): void }[] = [];

beforeAll(async () => {
  await record(madeDay(4), SERVED, async (_history, run, store) => {
    startMs = run.startMs;
    await store.backup(path);
  });
}, 120_000);
afterEach(async () => {
  for (const { desk, close } of desks.splice(0)) {
    await desk.close();
    close();
  }
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function opened(): ReplayDesk {
  const { history, close } = openStoreFile(path);
  const clock = new VirtualClock(startMs + 4 * HOUR_MS);
  const desk = createReplayDesk({ history, path, clock, ids: createSimulatedIds(clock, 1) });
  desks.push({ desk, close });
  return desk;
}

const wish = (set: Record<string, unknown>, policy: string | null = null) => ({
  fromMs: startMs + HOUR_MS,
  toMs: startMs + 3 * HOUR_MS,
  policy,
  set,
});

async function begun(desk: ReplayDesk, ...asked: Parameters<typeof wish>): Promise<ReplayView> {
  const started = await desk.start(wish(...asked));
  if (started.kind !== "started") throw new Error(JSON.stringify(started));
  return started.replay;
}

async function over(desk: ReplayDesk, id: string): Promise<ReplayView> {
  for (;;) {
    const view = await desk.find(id);
    if (view === null || view.status !== "running") return view ?? Promise.reject(new Error("it is gone"));
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

describe("a router's own replay", () => {
  it("is the very document that sir replay prints", async () => {
    const desk = opened();
    const console = terminal({ cwd: folder });
    console.clock.jumpWall(4 * HOUR_MS);

    const view = await over(desk, (await begun(desk, { maxWaitSeconds: 300 })).id);
    const words = ["--from", "3h", "--to", "1h", "--set", "maxWaitSeconds=300", "--json"];
    await console.run("replay", "--store", "sqlite:./sir.db", ...words);

    expect(view.error).toBeNull();
    expect(view).toMatchObject({ status: "completed", progress: 1 });
    const report = JSON.parse(console.out()) as Record<string, unknown>;
    expect(JSON.parse(JSON.stringify(view.result?.report))).toEqual(report);
    expect(view.result?.report.others[0]?.title).toBe("maxWaitSeconds=300");
  });

  it("draws both runs as spans that fit their lanes, and the waits as shares that only grow", async () => {
    const desk = opened();

    const { result } = await over(desk, (await begun(desk, {}, "longest")).id);

    for (const spans of [result?.recordedSpans ?? [], result?.otherSpans ?? []]) {
      expect(spans.length).toBeGreaterThan(20);
      expect(new Set(spans.map(([, , phase]) => phase))).toEqual(new Set(["loading", "serving", "idle", "unloading"]));
      for (const model of ["chat", "code", "sum"]) {
        const lane = spans.filter((span) => span[1] === model);
        expect(lane.length).toBeGreaterThan(2);
        lane.slice(1).forEach((span, i) => {
          expect(span[3]).toBeGreaterThanOrEqual(lane[i]?.[4] ?? 0);
        });
        for (const [, , , fromMs, toMs] of lane) expect(toMs).toBeGreaterThan(fromMs);
      }
    }
    const { seconds = [], before = [], after = [] } = result?.waits ?? {};
    for (const column of [seconds, before, after ?? []]) {
      expect(column).toHaveLength(60);
      expect([...column]).toEqual([...column].sort((a, b) => a - b));
    }
    expect(before.at(-1)).toBe(1);
  });

  it("runs one at a time: a second is told when to come back, and can come once the first is cancelled", async () => {
    const desk = opened();

    const first = await begun(desk, { maxWaitSeconds: 300 });
    const second = await desk.start(wish({ maxWaitSeconds: 400 }));
    const cancelled = await desk.remove(first.id);
    const third = await begun(desk, {});

    expect(second).toMatchObject({ kind: "busy", retryAfterMs: 2_000 });
    expect(cancelled).toMatchObject({ id: first.id, status: "cancelled", result: null });
    expect((await over(desk, third.id)).status).toBe("completed");
    expect((await desk.find(first.id))?.status).toBe("cancelled");
  });

  it("keeps the newest six and forgets what it is told to", async () => {
    const desk = opened();
    const ids: string[] = [];
    for (let i = 0; i < 8; i++) {
      const { id } = await begun(desk, {});
      await desk.remove(id);
      ids.push(id);
    }

    await desk.remove(ids[7] ?? "");

    expect((await desk.choices()).replays.map(({ id }) => id)).toEqual(ids.slice(2, 7).reverse());
    expect(await desk.find(ids[0] ?? "")).toBeNull();
    expect(await desk.remove(ids[0] ?? "")).toBeNull();
  });

  it.each([
    [{ maxWaitSecond: 3 }, null, "set.maxWaitSecond", /Did you mean "maxWaitSeconds"/],
    [{ maxWaitSeconds: "soon" }, null, "set.maxWaitSeconds", /maxWaitSeconds: came as "soon"/],
    [{ maxWaitSeconds: 1 }, null, "set.maxWaitSeconds", /maxWaitSeconds/],
    [{ price: 3 }, null, "set.price", /is not read by model-score/],
    [{}, "longst", "policy", /Did you mean "longest"/],
  ])("refuses %j under %s by name, in the configuration's words", async (set, policy, param, message) => {
    const started = await opened().start(wish(set, policy));

    expect(started).toMatchObject({ kind: "refused", param, message: expect.stringMatching(message) });
  });

  it("says in a sentence why there is nothing to replay", async () => {
    const desk = opened();

    const started = await desk.start({ fromMs: 1, toMs: 2, policy: null, set: {} });

    if (started.kind !== "started") throw new Error(started.kind);
    expect(await over(desk, started.replay.id)).toMatchObject({
      status: "failed",
      error: "No job was recorded in that time.",
    });
  });

  it("offers each policy's settings with unit, sentence, default and range, and what is in force", async () => {
    const choices = await opened().choices();

    expect(choices.policy).toBe("model-score");
    expect(choices.settings).toMatchObject({ maxWaitSeconds: 600, minResidencySeconds: 30 });
    expect(choices.span?.fromMs).toBeGreaterThanOrEqual(startMs);
    expect(Object.keys(choices.policies)).toEqual(["fifo", "serial", "model-score", "longest", "stint"]);
    for (const { key, unit, description, schema } of Object.values(choices.policies).flat()) {
      expect([key, unit, description].every((text) => text.length > 0)).toBe(true);
      expect(Object.keys(schema).length).toBeGreaterThan(0);
    }
    const ceiling = choices.policies["model-score"]?.find(({ key }) => key === "maxWaitSeconds");
    expect(ceiling).toMatchObject({ unit: "s", default: 600 });
  });
});
