// What was learned is there again after a restart, whether the router ended in good order or was killed.

import Database from "better-sqlite3";
import { expect, test } from "vitest";
import type { DeviceId } from "../../src/domain/ids.ts";
import type { Place } from "../../src/engine/control.ts";
import { VirtualClock } from "../../src/simulator/virtual-clock.ts";
import { openRig, type Rig, type RigOptions } from "./rig.ts";

const GPU = "gpu0" as DeviceId;
const MODELS = {
  small: { loadSeconds: 5, tokensPerSecond: 40, concurrency: 2 },
  large: { loadSeconds: 30, tokensPerSecond: 20, concurrency: 2 },
};
const BUSY: RigOptions = { models: MODELS, scheduler: { policy: "longest" } };

/** Jobs of both models that ask as they come when they will be answered; most have to wait. */
async function work(rig: Rig, rounds: number): Promise<void> {
  for (let i = 0; i < rounds; i++) {
    for (const model of i % 2 === 0 ? ["large", "small"] : ["small", "large"]) {
      const id = await rig.submit(model, { leaseMs: null, tokens: 40 + 20 * (i % 5) });
      await placeOf(rig, id);
    }
    await rig.advance(100);
  }
  await rig.advance(70);
}

async function placeOf(rig: Rig, id: Parameters<Rig["job"]>[0]): Promise<Place | null> {
  return rig.engine.queue.place(await rig.job(id));
}

/** As the next router finds it after kill -9: the rows as they were then, and nothing of what was in memory. */
async function afterKill(killed: Rig, options: RigOptions = BUSY): Promise<Rig> {
  const database = new Database(killed.database.serialize());
  return openRig({ ...options, database, clock: new VirtualClock(killed.clock.nowMs() + 60_000), seed: 2 });
}

async function afterStop(stopped: Rig, options: RigOptions = BUSY): Promise<Rig> {
  const closing = stopped.engine.close();
  await stopped.clock.runUntil(stopped.clock.nowMs() + 60_000);
  await closing;
  await stopped.store.close();
  return openRig({ ...options, database: stopped.database, clock: stopped.clock, seed: 2 });
}

/** What two jobs are told that come now; at least one of them has to wait for a load. */
async function told(rig: Rig): Promise<(Place | null)[]> {
  const ids = [await rig.submit("large", { leaseMs: null }), await rig.submit("small", { leaseMs: null })];
  return Promise.all(ids.map((id) => placeOf(rig, id)));
}

const hasRange = (places: readonly (Place | null)[]): boolean =>
  places.some((place) => place?.estimatedRange != null && place.start !== null);

test.each([["was killed", afterKill] as const, ["ended in good order", afterStop] as const])(
  "the last hour goes on after a router that %s",
  async (_how, next) => {
    const first = await openRig(BUSY);
    await first.submit("small", { leaseMs: 1_000, tokens: 100_000 });
    await work(first, 10);
    const { lastHour, devices } = first.engine.overview();
    expect(lastHour.succeeded).toBeGreaterThan(0);
    expect(lastHour).toMatchObject({ failed: 0, lapsed: 1 });
    expect(devices.get(GPU)?.swaps).toBeGreaterThan(0);

    const second = await next(first);

    const then = second.engine.overview();
    expect(then.lastHour).toMatchObject({ succeeded: lastHour.succeeded, failed: 0, lapsed: 1 });
    expect(then.devices.get(GPU)?.swaps).toBe(devices.get(GPU)?.swaps);
    await second.advance(3_700);
    expect(second.engine.overview().lastHour.succeeded).toBe(0);
  },
);

test.each([["is killed", afterKill] as const, ["ends in good order", afterStop] as const])(
  "ranges are stated at once by the router after one that %s",
  async (_how, next) => {
    const first = await openRig(BUSY);
    await work(first, 30);
    expect(hasRange(await told(first))).toBe(true);

    const second = await next(first);

    const places = await told(second);
    expect(hasRange(places)).toBe(true);
    for (const { estimatedMs, estimatedRange, start } of places.filter((place) => place !== null)) {
      expect(estimatedRange?.observations).toBeGreaterThanOrEqual(20);
      expect(estimatedRange?.lowMs).toBeLessThanOrEqual(estimatedMs ?? 0);
      expect(estimatedRange?.highMs).toBeGreaterThanOrEqual(estimatedMs ?? 0);
      expect(start?.lowMs).toBeGreaterThanOrEqual(0);
    }
  },
);

test("a router that is restarted again and again comes to twenty outcomes, and to no range before", async () => {
  let rig = await openRig(BUSY);
  const seen: [outcomes: number, ranged: boolean][] = [];
  let outcomes = 0;
  for (let night = 0; night < 8; night++) {
    await work(rig, 3);
    outcomes += rig.of("job.estimated").filter(({ of }) => of === "answer").length;
    rig = await afterKill(rig);
    seen.push([outcomes, hasRange(await told(rig))]);
  }
  expect(seen.filter(([known, ranged]) => known < 20 && ranged)).toEqual([]);
  expect(seen.at(-1)?.[1]).toBe(true);
});

test("the next router knows what the one before noted, to the last of it", async () => {
  const stint = { ...BUSY, scheduler: { policy: "stint" } };
  const first = await openRig(stint);
  for (let i = 0; i < 200; i++) await first.submit("large", { leaseMs: null, priority: -100, tokens: 400 });
  await work(first, 10);

  const second = await afterStop(first, stint);
  const noted = notesIn(second.database);
  await afterStop(second, stint);

  expect([...noted.keys()].toSorted()).toEqual([
    "device gpu0",
    "estimates answer",
    "estimates start",
    "last hour",
    "model large",
    "model small",
    "preloads",
  ]);
  expect(noted.get("device gpu0")).toMatchObject({ budget: { leftMs: expect.any(Number) } });
  expect(noted.get("model small")).toMatchObject({ runMs: expect.any(Number), service: { measured: { alone: true } } });
  for (const key of ["estimates answer", "estimates start", "model large", "model small", "preloads"]) {
    expect(notesIn(second.database).get(key)).toEqual(noted.get(key));
  }
});

function notesIn(database: Database.Database): Map<string, unknown> {
  const rows = database.prepare<[], { key: string; note: string }>("SELECT key, note FROM learned").all();
  return new Map(rows.map(({ key, note }) => [key, JSON.parse(note) as unknown]));
}

const PACKED: RigOptions = {
  models: { chat: { memoryGiB: 30 }, coder: { memoryGiB: 30 } },
  devices: { gpu0: { memoryGiB: 80, memoryProbe: { command: ["free-gib"], unit: "GiB" } } },
  scheduler: { policy: "longest" },
};

test("memory that a load was seen to take is claimed after a restart, until its claim is written otherwise", async () => {
  let loaded = false;
  const probing: RigOptions = { ...PACKED, freeGiB: () => (loaded ? 35 : 80) };
  const first = await openRig(probing);
  await first.submit("chat", { leaseMs: null });
  await first.advance(1);
  loaded = true;
  await first.advance(120);
  expect(memoryOf(first)).toBe(45);

  expect(memoryOf(await afterKill(first, probing))).toBe(45);
  const models = { ...PACKED.models, chat: { memoryGiB: 50 } };
  expect(memoryOf(await afterKill(first, { ...probing, models }))).toBeNull();
});

const memoryOf = (rig: Rig): number | null =>
  rig.engine.status().models.find(({ spec }) => spec.name === "chat")?.measuredGiB ?? null;
