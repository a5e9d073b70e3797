// The bound that a receipt names is the one that the policy in force states, and none where none is stated.

import { expect, it, onTestFinished } from "vitest";
import type { JobId } from "../../src/domain/ids.ts";
import { type Ask, openRig, type Rig } from "./rig.ts";

const models = { a: { loadSeconds: 5, unloadSeconds: 1 }, b: { loadSeconds: 9, unloadSeconds: 1 } };
const MINUTES = 60_000;

async function open(scheduler: Readonly<Record<string, unknown>>, devices?: Record<string, unknown>): Promise<Rig> {
  const sized = Object.fromEntries(Object.entries(models).map(([name, model]) => [name, { ...model, memoryGiB: 60 }]));
  const rig = await openRig({ models: sized, scheduler, ...(devices === undefined ? {} : { devices }) });
  onTestFinished(async () => {
    const closed = rig.engine.close();
    await rig.advance(400);
    await closed;
    await rig.store.close();
  });
  for (let i = 0; i < 40; i++) await rig.submit("a", { leaseMs: null, tokens: 6_400 });
  await rig.advance(7);
  return rig;
}

const waiting = (rig: Rig, ask: Ask = {}): Promise<JobId> => rig.submit("b", { leaseMs: null, ...ask });

async function boundMs(rig: Rig, id: JobId): Promise<number | null> {
  await rig.clock.settle();
  const place = await rig.engine.queue.place(await rig.job(id));
  return place === null ? null : place.loadBoundMs;
}

it("is under stint that of its visits, by the job's own band, and runs down", async () => {
  const rig = await open({ policy: "stint", drainSeconds: 60 });
  const interactive = await waiting(rig, { priority: 100 });
  const batch = await waiting(rig, { priority: -100 });
  // Twice the limit of the band, three drains at their longest, its own load.
  const rest = 3 * MINUTES + 9_000;

  expect(await boundMs(rig, interactive)).toBeCloseTo(40 * MINUTES + rest, -2);
  expect(await boundMs(rig, batch)).toBeCloseTo(24 * 60 * MINUTES + rest, -2);
  await rig.engine.operator.pin("a" as never);
  await rig.advance(100);
  expect(await boundMs(rig, interactive)).toBeCloseTo(40 * MINUTES + rest - 100_000, -2);
});

it("is the ceiling's where there is one, and nobody's where the policy states none", async () => {
  const ceiling = await open({ policy: "fifo", maxWaitSeconds: 120, drainSeconds: 60 });
  const none = await open({ policy: "fifo" });
  const packed = await open({ policy: "stint" }, { gpu0: { memoryGiB: 80 } });

  expect(await boundMs(ceiling, await waiting(ceiling))).toBeGreaterThan(120_000);
  expect(await boundMs(none, await waiting(none))).toBeNull();
  expect(await boundMs(packed, await waiting(packed))).toBeNull();
});
