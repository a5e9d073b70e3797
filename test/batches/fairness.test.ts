// A batch is many jobs, but never in anybody's way.

import { describe, expect, it } from "vitest";
import { linesToFeed, type ModelLines, modelsInTurn, windowOf } from "../../src/batches/window.ts";
import { batchScene, line } from "./scene.ts";

const lines = (prefix: string, count: number, model: (n: number) => string = () => "chat") =>
  Array.from({ length: count }, (_, n) => line(`${prefix}${n}`, model(n)));
const steady = { loadMs: 1_000, concurrency: 4, firstTokenMs: 0, tokensPerSecond: 10 };

describe("the window", () => {
  it("is wide enough that one half of it keeps every slot busy twice, and shared by a caller's batches", () => {
    expect(windowOf(8, 1)).toBe(64);
    expect(windowOf(256, 1)).toBe(1_024);
    expect(windowOf(8, 4)).toBe(16);
    expect(windowOf(8, 1_000)).toBe(8);
    for (const concurrency of [1, 8, 16, 64, 256]) {
      expect(windowOf(concurrency, 1) / 2).toBeGreaterThanOrEqual(2 * concurrency);
    }
  });

  it("is filled up once it is half empty, as far as there is room", () => {
    expect(linesToFeed(64, 33, 1_000, 1_000)).toBe(0);
    expect(linesToFeed(64, 32, 1_000, 1_000)).toBe(32);
    expect(linesToFeed(64, 0, 10, 1_000)).toBe(10);
    expect(linesToFeed(64, 0, 1_000, 5)).toBe(5);
    expect(linesToFeed(64, 0, 1_000, -3)).toBe(0);
  });
});

describe("the turn of models", () => {
  const of = (model: string, state: ModelLines["state"], waiting: number, out = 0): ModelLines => ({
    ...{ model, state, waiting, out, concurrency: 4 },
  });
  it.each([
    ["the one that is loaded", [of("a", "absent", 900), of("b", "ready", 10)], 1, ["b"]],
    ["the one with most lines where none is loaded", [of("a", "absent", 9), of("b", "absent", 10)], 1, ["b"]],
    [
      "the one that was begun, when somebody else's model was loaded meanwhile",
      [of("a", "absent", 900), of("b", "absent", 9, 30)],
      1,
      ["b"],
    ],
    ["not the next while lines of the last are queued", [of("a", "absent", 900), of("b", "ready", 0, 5)], 1, []],
    ["the next as soon as the last lines run", [of("a", "absent", 900), of("b", "ready", 0, 4)], 1, ["a"]],
    ["one for each device", [of("a", "absent", 9), of("b", "ready", 1), of("c", "absent", 8)], 2, ["a", "b"]],
    [
      "always those that take no device",
      [of("a", "absent", 9), of("b", "free", 1), of("c", "ready", 8)],
      1,
      ["b", "c"],
    ],
    ["another beside one that cannot be loaded", [of("a", "stuck", 9, 9), of("b", "absent", 1)], 1, ["a", "b"]],
  ] as const)("%s", (_what, models, devices, expected) => {
    expect(modelsInTurn(models, devices)).toEqual(expected);
  });
});

describe("a long batch", () => {
  it("never has more than its window in the queue, and never leaves a slot idle while it has lines", async () => {
    const scene = await batchScene({ models: { chat: steady }, resident: "chat" });
    const made = await scene.create(lines("r", 400));
    await scene.until(made.id, "in_progress");

    const seen: { queued: number; running: number }[] = [];
    for (let look = 0; look < 80; look++) {
      await scene.world.advance(1_037);
      const { queued, running } = scene.world.engine.status();
      seen.push({ queued, running });
    }

    expect(Math.max(...seen.map(({ queued, running }) => queued + running))).toBeLessThanOrEqual(64);
    expect(Math.min(...seen.map(({ running }) => running))).toBe(4);
    expect((await scene.done(made.id)).request_counts).toEqual({ total: 400, completed: 400, failed: 0 });
    // 400 lines of a second on 4 slots: a hundred seconds and next to nothing more.
    const [first] = scene.world.ofType("job.dispatched");
    expect(first).toBeDefined();
    expect(scene.world.elapsedMs()).toBeLessThan(103_000);
  });

  it("lets everybody else's next job go first", async () => {
    const scene = await batchScene({ models: { chat: steady }, resident: "chat" });
    const made = await scene.create(lines("r", 300));
    await scene.until(made.id, "in_progress");
    await scene.world.advance(10_000);

    const person = scene.world.arrive("chat", { tokens: 10 });
    await scene.world.advance(2_100);

    expect((await scene.world.job(person)).state.status).toBe("succeeded");
    await scene.done(made.id);
  });

  it("holds up a single job of its own band by no more than its window", async () => {
    const scene = await batchScene({ models: { chat: steady }, resident: "chat" });
    const made = await scene.create(lines("r", 600));
    await scene.until(made.id, "in_progress");
    await scene.world.advance(5_000);

    const other = scene.world.arrive("chat", { tokens: 10, headers: { "sir-priority": "batch" } });
    await scene.world.advance(18_000);

    expect((await scene.world.job(other)).state.status).toBe("succeeded");
    expect((await scene.read(made.id)).request_counts?.completed).toBeLessThan(150);
    await scene.done(made.id);
  });

  it("lets a short batch that came later through long before its own end", async () => {
    const scene = await batchScene({ models: { chat: steady }, resident: "chat" });
    const long = await scene.create(lines("l", 600));
    await scene.until(long.id, "in_progress");
    await scene.world.advance(5_000);
    const short = await scene.create(lines("s", 40));

    await scene.done(short.id);

    const { completed } = (await scene.read(long.id)).request_counts ?? { completed: 600 };
    expect(completed).toBeLessThan(200);
    await scene.done(long.id);
  });

  it("leaves half of a small queue to everybody else", async () => {
    const scene = await batchScene({ models: { chat: steady }, jobs: { maxQueued: 20 }, resident: "chat" });
    const made = await scene.create(lines("r", 200));
    await scene.until(made.id, "in_progress");
    await scene.world.advance(3_000);

    expect(scene.world.engine.status().queued).toBeLessThanOrEqual(10);
    const person = scene.world.arrive("chat", { tokens: 10 });
    await scene.world.advance(2_100);
    expect(person.error).toBeNull();
    expect((await scene.done(made.id)).request_counts?.completed).toBe(200);
  });
});

it("a batch of lines for two models in turn loads each of them once", async () => {
  const scene = await batchScene({
    models: { chat: steady, code: steady },
    policy: "model-score",
    scheduler: { minResidencySeconds: 0 },
  });
  const made = await scene.create(lines("r", 256, (n) => (n % 2 === 0 ? "chat" : "code")));

  const batch = await scene.done(made.id);

  expect(batch.request_counts?.completed).toBe(256);
  expect(scene.world.loads()).toBe(2);
});
