import { expect, test } from "vitest";
import type { DeviceId, ModelName } from "../../src/domain/ids.ts";
import { LastHour } from "../../src/engine/last-hour.ts";
import { LoadBook } from "../../src/engine/load-book.ts";
import { MinuteRing } from "../../src/engine/minute-ring.ts";
import { Sampled } from "../../src/engine/sampled.ts";
import { Steady } from "../../src/engine/steady.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const GPU = "gpu0" as DeviceId;
const CHAT = "chat" as ModelName;

test("what lies more than an hour back is forgotten, and nothing sooner than after 59 minutes", () => {
  const ring = new MinuteRing(0);
  ring.add(30_000, 1);
  ring.add(10 * MINUTE, 2);
  expect(ring.sum(59 * MINUTE + 59_000)).toBe(3);
  expect(ring.sum(60 * MINUTE)).toBe(2);
  expect(ring.sum(70 * MINUTE)).toBe(0);
  ring.add(200 * MINUTE, 5);
  expect(ring.sum(200 * MINUTE)).toBe(5);
  ring.add(100 * MINUTE, 7);
  expect(ring.sum(200 * MINUTE)).toBe(5);
});

test("a span is counted in the minutes it lies in, however long it is", () => {
  const ring = new MinuteRing(0);
  ring.addSpan(30_000, 2 * MINUTE + 15_000);
  expect(ring.sum(3 * MINUTE)).toBe(105_000);
  expect(ring.sum(60 * MINUTE)).toBe(75_000);
  ring.addSpan(0, 500 * MINUTE);
  expect(ring.sum(500 * MINUTE)).toBe(59 * MINUTE);
});

test("a sample is of the last hour and of the newest, and says nothing where there are too few", () => {
  const sampled = new Sampled();
  expect(sampled.quantile(0.5, 0)).toBeNull();
  for (let i = 0; i < 10_000; i++) sampled.add(i * 10, i);
  expect(sampled.quantile(0.5, 100_000)).toBeGreaterThanOrEqual(10_000 - 256);
  expect(sampled.quantile(1, 100_000)).toBe(9_999);
  expect(sampled.quantile(0.5, 100_000, 1_000)).toBeNull();
  expect(sampled.quantile(0.5, 2 * HOUR)).toBeNull();
});

test("a device's share of swapping counts what goes on, and is of the time that the router has been up", () => {
  const hour = new LastHour(0);
  const enter = (phase: "loading" | "serving" | "draining", atMs: number) =>
    hour.hear({ type: "device.phase", device: GPU, phase, atMs }, atMs);
  enter("loading", MINUTE);
  expect(hour.swapping(GPU, 2 * MINUTE)).toEqual({ share: 0.5, swaps: 0 });
  enter("serving", 3 * MINUTE);
  expect(hour.swapping(GPU, 4 * MINUTE).share).toBeCloseTo(0.5);
  enter("draining", 4 * MINUTE);
  expect(hour.swapping(GPU, 8 * MINUTE).share).toBeCloseTo(0.75);
  expect(hour.swapping(GPU, 24 * HOUR).share).toBe(1);
});

test("loads are kept fourteen deep and failures five; what was given up is neither", () => {
  const book = new LoadBook();
  for (let i = 1; i <= 20; i++) book.ended(CHAT, { outcome: "ready", tookMs: i * 1_000, atMs: i, detail: null });
  for (let i = 1; i <= 7; i++) book.ended(CHAT, { outcome: "failed", tookMs: 1, atMs: 100 + i, detail: `no ${i}` });
  book.ended(CHAT, { outcome: "abandoned", tookMs: 1, atMs: 200, detail: null });

  const { lastMs, count, medianMs, p90Ms, failures } = book.of(CHAT);
  expect(lastMs).toEqual(Array.from({ length: 14 }, (_, i) => (i + 7) * 1_000));
  expect([count, medianMs, p90Ms]).toEqual([20, 13_000, 19_000]);
  expect(failures.map(({ error }) => error)).toEqual(["no 7", "no 6", "no 5", "no 4", "no 3"]);
  expect(book.of("other" as ModelName)).toMatchObject({ count: 0, medianMs: null, failures: [] });
});

test("an expected instant stands still until it has moved by a tenth of what is left", () => {
  const steady = new Steady();
  const range = (midMs: number) => ({ lowMs: midMs / 2, midMs, highMs: midMs * 2, observations: 20 });
  expect(steady.of("chat", range(60_000), 0)?.midAtMs).toBe(60_000);
  expect(steady.of("chat", range(55_000), 10_000)?.midAtMs).toBe(60_000);
  expect(steady.of("chat", range(56_000), 10_000)?.midAtMs).toBe(66_000);
  expect(steady.of("chat", null, 10_000)).toBeNull();
});
