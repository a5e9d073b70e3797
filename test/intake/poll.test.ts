// Polling: whose job it is, what a poll is worth, how often the store hears of it.

import { expect, test } from "vitest";
import { type CallerId, type JobId, LOCAL_CALLER } from "../../src/domain/ids.ts";
import type { Job } from "../../src/domain/job.ts";
import { createPoll, type Poll } from "../../src/intake/poll.ts";
import { codeOf, type Given, given, prepared } from "./given.ts";

interface Polled extends Given {
  readonly poll: Poll;
  readonly job: Job;
  /** What the store heard, call by call. */
  readonly noted: (readonly JobId[])[];
}

/** A job that waits: the router is paused. */
async function givenWaiting(): Promise<Polled> {
  const world = await given();
  await world.engine.operator.pause();
  const noted: (readonly JobId[])[] = [];
  const store = { job: (id: JobId) => world.store.job(id), notePolls: (ids: readonly JobId[]) => void noted.push(ids) };
  const poll = createPoll({ store, engine: world.engine, clock: world.clock });
  const { job } = await world.intake.accept(await prepared(world), "async");
  return { ...world, poll, job, noted };
}

test("A job that is polled lives on, and one that is not lapses", async () => {
  const world = await givenWaiting();
  const startMs = world.clock.nowMs();
  for (let i = 1; i <= 10; i++) {
    await world.clock.runUntil(startMs + i * 40_000);
    expect((await world.poll(world.job.id, LOCAL_CALLER)).state.status).toBe("queued");
  }

  await world.clock.runUntil(startMs + 400_000 + 62_000);

  expect((await world.poll(world.job.id, LOCAL_CALLER)).state).toMatchObject({
    status: "cancelled",
    reason: "lease_expired",
  });
});

test.each([
  ["unknown", "job_0199c0ffee007000800000000000beef"],
  ["ill-formed", "job_1"],
  ["empty", ""],
  ["somebody else's kind", "dec_0199c0ffee007000800000000000beef"],
])("An id that is %s is a 404", async (_what, id) => {
  const world = await givenWaiting();
  expect(await codeOf(world.poll(id, LOCAL_CALLER))).toBe("job_not_found");
});

test("Another caller's job is a 404 and is not kept alive by asking", async () => {
  const world = await givenWaiting();
  const startMs = world.clock.nowMs();
  for (let i = 1; i <= 3; i++) {
    await world.clock.runUntil(startMs + i * 20_000);
    expect(await codeOf(world.poll(world.job.id, "mallory" as CallerId))).toBe("job_not_found");
  }
  await world.clock.runUntil(startMs + 62_000);
  expect((await world.store.job(world.job.id))?.state.status).toBe("cancelled");
});

test("However often a job is polled, the store hears of it once a second", async () => {
  const world = await givenWaiting();
  const other = await world.intake.accept(await prepared(world), "async");

  for (let i = 0; i < 500; i++) await world.poll(world.job.id, LOCAL_CALLER);
  await world.poll(other.job.id, LOCAL_CALLER);
  expect(world.noted).toEqual([]);
  await world.clock.runUntil(world.clock.nowMs() + 1000);
  expect(world.noted).toEqual([[world.job.id, other.job.id]]);

  await world.clock.runUntil(world.clock.nowMs() + 5000);
  await world.poll(world.job.id, LOCAL_CALLER);
  await world.clock.runUntil(world.clock.nowMs() + 1000);
  expect(world.noted).toHaveLength(2);
});

test("Polling a finished job renews nothing and tells the store nothing", async () => {
  const world = await givenWaiting();
  await world.engine.cancel(world.job.id, "client");
  expect((await world.poll(world.job.id, LOCAL_CALLER)).state.status).toBe("cancelled");
  await world.clock.runUntil(world.clock.nowMs() + 2000);
  expect(world.noted).toEqual([]);
});
