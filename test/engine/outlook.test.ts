import { expect, test } from "vitest";
import { Outlook } from "../../src/engine/outlook.ts";
import type { EngineWorld } from "../../src/engine/state.ts";
import { bindPolicy } from "../../src/scheduler/policies/registry.ts";
import { VirtualClock } from "../../src/simulator/virtual-clock.ts";
import { model, named, resident, snapshot } from "../scheduler/views.ts";

/** `count` models with twenty jobs each; how often somebody looked at them. */
function outlookOn(count: number) {
  const clock = new VirtualClock();
  const policy = bindPolicy("longest", {});
  let looks = 0;
  const look = () => {
    looks++;
    const nowMs = clock.nowMs();
    const jobs = Array.from({ length: 20 }, (_, i) => ({ atMs: nowMs - 1_000 + i }));
    const models = Array.from({ length: count }, (_, i) =>
      model(`m${i}`, { order: i, jobs, slots: 4, loadMs: 30_000 }),
    );
    return [snapshot(nowMs, models, { residents: [resident("m0", { sinceMs: nowMs - 1_000 })] })];
  };
  const outlook = new Outlook({ clock, settings: { policy } } as unknown as EngineWorld, look);
  return { clock, outlook, looks: () => looks };
}

test("a look ahead over few models is whole at once, and shared for a quarter of a second", async () => {
  const { clock, outlook, looks } = outlookOn(2);
  expect(outlook.of(named("m1")).whole).toBe(true);
  await clock.runUntil(clock.nowMs() + 200);
  outlook.of(named("m0"));
  expect(looks()).toBe(1);
  await clock.runUntil(clock.nowMs() + 100);
  outlook.of(named("m0"));
  expect(looks()).toBe(2);
});

test("a look ahead over many models is made in slices between which others have their turn", async () => {
  const { clock, outlook, looks } = outlookOn(40);
  const before = outlook.of(named("m39"));
  expect(before).toMatchObject({ whole: false, stretches: [] });
  await clock.runUntil(clock.nowMs() + 5);
  expect(outlook.of(named("m39")).whole).toBe(false);
  await clock.runUntil(clock.nowMs() + 2_000);
  const after = outlook.of(named("m39"));
  expect(after.whole).toBe(true);
  expect(after.stretches.length).toBeGreaterThan(0);
  expect(looks()).toBe(1);
});

test("the dearer a look ahead was, the longer it serves, whatever is decided meanwhile", async () => {
  const { clock, outlook, looks } = outlookOn(40);
  outlook.of(named("m0"));
  await clock.runUntil(clock.nowMs() + 1_000);
  outlook.hear({ type: "decision" } as never);
  outlook.of(named("m0"));
  expect(looks()).toBe(1);
  await clock.runUntil(clock.nowMs() + 20_000);
  outlook.of(named("m0"));
  expect(looks()).toBe(2);
});

test("starts since the look ahead move its positions on", () => {
  const { outlook } = outlookOn(2);
  outlook.of(named("m0"));
  outlook.hear({ type: "job.dispatched", model: named("m0") } as never);
  expect(outlook.of(named("m0")).started).toBe(1);
  expect(outlook.of(named("m1")).started).toBe(0);
});
