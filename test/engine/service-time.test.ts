// How long jobs run alone and how much slower together: learned from work, with a guess that stands until contradicted.

import { expect, test } from "vitest";
import { ArrivalMeter, BusyMeter, WorkMeter } from "../../src/engine/meters.ts";
import { ServiceTime } from "../../src/engine/service-time.ts";
import { createSeeded } from "../../src/simulator/seeded.ts";

/** Jobs on an engine that really slows down by `truth`, through the meter that believes what was learned so far. */
function learn(time: ServiceTime, truth: number, jobs: number, seed: number): void {
  const random = createSeeded(seed);
  for (let i = 0; i < jobs; i++) {
    const company = random.integer(0, 15);
    const tookMs = random.logNormal(6_000, 0.8) * (1 + truth * company);
    time.ran(tookMs / (1 + time.slowdownPerJob * company), company);
  }
}

test("a right guess of the slowdown stands, whatever the jobs' lengths are", () => {
  for (let seed = 1; seed <= 20; seed++) {
    const time = new ServiceTime({ aloneMs: 6_000, slowdownPerJob: 0.06 });
    learn(time, 0.06, 3_000, seed);
    expect(time.slowdownPerJob).toBe(0.06);
  }
});

test("a wrong guess of the slowdown is moved to what the runs say", () => {
  for (const [guess, truth] of [
    [0.06, 0.4],
    [0.6, 0.06],
    [0.3, 0],
  ] as const) {
    const time = new ServiceTime({ slowdownPerJob: guess });
    learn(time, truth, 3_000, 7);
    expect(Math.abs(time.slowdownPerJob - truth)).toBeLessThan(Math.abs(guess - truth) / 2);
  }
});

test("without a guess the time alone is that of the first run, then a tenth of each further one", () => {
  const time = new ServiceTime();
  expect(time.aloneMs).toBeNull();
  time.ran(1_000, 0);
  time.ran(2_000, 0);
  expect(time.aloneMs).toBeCloseTo(1_100, 9);
});

test("the work of two jobs that share an engine is what each would have taken alone", () => {
  const meter = new WorkMeter(0);
  meter.advance(0, 0.5, 10_000);
  const began = meter.workMs;
  meter.advance(1, 0.5, 14_000);
  const joined = meter.workMs;
  meter.advance(2, 0.5, 20_000);

  expect(meter.workMs - began).toBe(4_000 + 6_000 / 1.5);
  expect(meter.workMs - joined).toBe(6_000 / 1.5);
});

test("an arrival counts half after each half-life, in whatever order arrivals become known", () => {
  const [forth, back] = [new ArrivalMeter(), new ArrivalMeter()];
  const instants = [0, 1_000, 5_000];
  for (const atMs of instants) forth.arrived("batch", atMs, 1_000);
  for (const atMs of instants.toReversed()) back.arrived("batch", atMs, 1_000);

  expect(forth.of("batch")).toEqual({ value: 1 + 2 ** -4 + 2 ** -5, atMs: 5_000 });
  expect(back.of("batch").value).toBeCloseTo(forth.of("batch").value, 12);
  expect([forth.lastAtMs, back.lastAtMs]).toEqual([5_000, 5_000]);
});

test("the busy share follows half an hour of work and of rest", () => {
  const meter = new BusyMeter(0);
  meter.sample(true, 0);
  meter.sample(true, 1_800_000);
  expect(meter.view.share).toBeCloseTo(1 - Math.exp(-1), 12);
  meter.sample(false, 1_800_000);
  meter.sample(false, 3_600_000);
  expect(meter.view.share).toBeCloseTo((1 - Math.exp(-1)) * Math.exp(-1), 12);
});
