// Limits: queued jobs, bodies being read, bytes in memory, bytes of a body.

import { expect, test, vi } from "vitest";
import type { ModelName } from "../../src/domain/ids.ts";
import { ASK, callOf, codeOf, Ear, errorOf, type Given, given, modelSpec, prepared } from "./given.ts";

async function burst(world: Given, count: number, mode: "async" | "sync"): Promise<readonly string[]> {
  return Promise.all(
    Array.from({ length: count }, () => codeOf(prepared(world).then((call) => world.intake.accept(call, mode)))),
  );
}

test.each(["async", "sync"] as const)(
  "Of 200 requests (%s) to a cold model with a limit of 50 exactly 150 are refused, and none of the others is lost",
  async (mode) => {
    const world = await given({ settings: { maxQueued: 50 } });

    const codes = await burst(world, 200, mode);

    expect(codes.filter((code) => code === "queue_full")).toHaveLength(150);
    expect(codes.filter((code) => code === "accepted")).toHaveLength(50);
    expect(world.engine.queue.queuedTotal()).toBe(50);
    const endMs = world.clock.nowMs() + 50_000;
    await world.clock.runUntil(endMs);
    expect(world.sql("SELECT status, count(*) AS n FROM jobs GROUP BY status")).toEqual([{ status: 2, n: 50 }]);
    expect(world.backends.get("alpha" as ModelName)?.counts).toMatchObject({ loads: 1, mostInFlight: 1 });
  },
);

test("The limit counts the warm model's queue too: of six at once one runs, two wait and three are refused", async () => {
  const world = await given({ settings: { maxQueued: 2 } });
  await burst(world, 1, "async");
  await world.clock.runUntil(world.clock.nowMs() + 10_000);
  expect(world.engine.status().models[0]?.state).toBe("resident");

  const codes = await burst(world, 6, "async");
  await world.clock.settle();

  expect(codes.filter((code) => code === "queue_full")).toHaveLength(3);
  expect(world.engine.status()).toMatchObject({ running: 1, queued: 2 });
});

test("A full queue of one model does not keep work from another's free slot", async () => {
  const specs = [modelSpec("alpha"), modelSpec("beta", [], { concurrency: 4 })];
  const world = await given({ specs, settings: { maxQueued: 2 } });
  await world.intake.accept(await prepared(world, { ...ASK, model: "beta" }), "async");
  await world.clock.runUntil(world.clock.nowMs() + 4_000);
  const slow = { ...ASK, model: "beta", max_tokens: 4_000 };
  await world.intake.accept(await prepared(world, slow), "async");
  await world.clock.settle();
  expect(await burst(world, 3, "async")).toEqual(["accepted", "accepted", "queue_full"]);

  const code = await codeOf(world.intake.accept(await prepared(world, { ...ASK, model: "beta" }), "async"));

  expect(code).toBe("accepted");
});

test("A full queue is told before a byte of the body is read, with whole seconds to wait", async () => {
  const world = await given({ settings: { maxQueued: 1 } });
  await burst(world, 1, "async");
  let reads = 0;
  async function* counted(): AsyncGenerator<Uint8Array> {
    reads++;
    yield Buffer.from(JSON.stringify(ASK));
  }

  const error = await errorOf(world.intake.prepare(callOf(counted())));

  expect([error.code, error.kind.status, reads]).toEqual(["queue_full", 503, 0]);
  expect(error.detail.retryAfterMs).toBeGreaterThanOrEqual(1000);
});

test("A place that was not used is given back", async () => {
  const world = await given({ settings: { maxQueued: 1 } });
  const headers = { "idempotency-key": "k" };
  const first = await prepared(world, ASK, { headers });
  const other = await prepared(world, { ...ASK, n: 1 }, { headers });
  await world.intake.accept(first, "async");
  await world.clock.runUntil(world.clock.nowMs() + 10_000);

  for (let i = 0; i < 3; i++) expect(await codeOf(world.intake.accept(other, "async"))).toBe("idempotency_key_reused");

  expect(await burst(world, 1, "async")).toEqual(["accepted"]);
});

test("More bodies at once than may be open are refused, and a place is free when one is read", async () => {
  const world = await given({ settings: { maxOpenBodies: 2 } });
  let go = (): void => undefined;
  const gate = new Promise<void>((resolve) => {
    go = resolve;
  });
  async function* slow(): AsyncGenerator<Uint8Array> {
    await gate;
    yield Buffer.from(JSON.stringify(ASK));
  }
  const held = [world.intake.prepare(callOf(slow())), world.intake.prepare(callOf(slow()))];

  const error = await errorOf(prepared(world));
  go();
  await Promise.all(held);

  expect([error.code, error.kind.status]).toEqual(["queue_full", 503]);
  expect((await prepared(world)).model.name).toBe("alpha");
});

test("Where memory for bodies is used up, small bodies go to files, and come back to memory when it is free", async () => {
  const world = await given({ settings: { maxMemoryBytes: 1000 } });
  const first = await prepared(world, { ...ASK, user: "x".repeat(800) });
  const second = await prepared(world, { ...ASK, user: "y".repeat(800) });
  expect([first.body.source.kind, second.body.source.kind]).toEqual(["bytes", "file"]);

  await second.discard();
  await world.intake.accept(first, "async");
  const third = await prepared(world, { ...ASK, user: "z".repeat(800) });

  expect(third.body.source.kind).toBe("bytes");
  expect(await world.files()).toEqual([]);
});

test("A plain request's bytes count until it is answered, and its file is removed then", async () => {
  const world = await given({ settings: { maxMemoryBytes: 1000 } });
  const ears = [new Ear(), new Ear()];
  for (const ear of ears) {
    await world.intake.accept(await prepared(world, { ...ASK, user: "x".repeat(800) }), "sync", ear);
  }
  expect(await world.files()).toHaveLength(1);

  // The second body is read from a real file, which takes real time of its own.
  await vi.waitFor(async () => {
    await world.clock.runUntil(world.clock.nowMs() + 1000);
    if (ears.some(({ heard }) => heard.length === 0)) throw new Error("not answered yet");
  }, 10_000);

  expect(ears.map(({ heard }) => heard[0]?.job.state.status)).toEqual(["succeeded", "succeeded"]);
  await expect.poll(world.files).toEqual([]);
  expect((await prepared(world, { ...ASK, user: "x".repeat(800) })).body.source.kind).toBe("bytes");
});
