// A caller whose socket closed and who sends the same request again: one action of a user is one run of the engine.

import { expect, test } from "vitest";
import type { ModelName } from "../../src/domain/ids.ts";
import { ASK, Ear, type Given, given, prepared } from "./given.ts";

const SLOW = { ...ASK, max_tokens: 400 };
const KEYED = { headers: { "idempotency-key": "k" } };

function requestsOf(world: Given): number | undefined {
  return world.backends.get("alpha" as ModelName)?.counts.requests;
}

test("With the same key it meets its running job, and the last attempt gets the answer of one engine call", async () => {
  const world = await given();
  const startMs = world.clock.nowMs();
  const ears = [new Ear(), new Ear(), new Ear()];
  for (const [i, ear] of ears.entries()) {
    await world.clock.runUntil(startMs + i * 5000);
    const accepted = await world.intake.accept(await prepared(world, SLOW, KEYED), "sync", ear);
    expect(accepted.replayed).toBe(i > 0);
    if (i === 2) continue;
    await world.clock.runUntil(startMs + i * 5000 + 1000);
    accepted.detach();
    accepted.hold?.drop(10_000);
  }

  await world.clock.runUntil(startMs + 60_000);

  expect(ears.map(({ heard }) => heard.length)).toEqual([0, 0, 1]);
  expect(ears[2]?.heard[0]?.job.state.status).toBe("succeeded");
  expect(requestsOf(world)).toBe(1);
});

test("Without a key the job of a closed socket is cancelled at once, and exactly one more runs", async () => {
  const world = await given();
  const startMs = world.clock.nowMs();
  const first = await world.intake.accept(await prepared(world, SLOW), "sync", new Ear());
  await world.clock.runUntil(startMs + 5000);
  first.detach();
  first.hold?.drop(0);
  await world.clock.settle();
  expect((await world.store.job(first.job.id))?.state).toMatchObject({ status: "cancelled", reason: "disconnect" });

  const ear = new Ear();
  await world.intake.accept(await prepared(world, SLOW), "sync", ear);
  await world.clock.runUntil(startMs + 60_000);

  expect(ear.heard[0]?.job.state.status).toBe("succeeded");
  expect(requestsOf(world)).toBe(2);
});

test("A key whose socket closed and whose time ran out starts anew", async () => {
  const world = await given();
  await world.engine.operator.pause();
  const first = await world.intake.accept(await prepared(world, SLOW, KEYED), "sync", new Ear());
  first.hold?.drop(10_000);
  await world.clock.runUntil(world.clock.nowMs() + 12_000);
  expect((await world.store.job(first.job.id))?.state).toMatchObject({ status: "cancelled", reason: "disconnect" });

  const second = await world.intake.accept(await prepared(world, SLOW, KEYED), "sync", new Ear());

  expect(second.replayed).toBe(false);
  expect(second.hold).not.toBeNull();
});
