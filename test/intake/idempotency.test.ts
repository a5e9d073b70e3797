// Idempotency keys: the same request is one job, however often and however fast it is sent.

import { expect, test } from "vitest";
import type { CallerId } from "../../src/domain/ids.ts";
import type { Accepted } from "../../src/intake/intake.ts";
import { ASK, type CallOptions, codeOf, Ear, type Given, given, prepared } from "./given.ts";

const KEYED = { headers: { "idempotency-key": "key-1" } };

async function submit(world: Given, body: unknown = ASK, options: CallOptions = KEYED): Promise<Accepted> {
  return world.intake.accept(await prepared(world, body, options), "async");
}

test("Twenty identical submissions at once are one row, twenty equal ids and nineteen replays", async () => {
  const world = await given();

  const all = await Promise.all(Array.from({ length: 20 }, () => submit(world)));

  expect(new Set(all.map(({ job }) => job.id)).size).toBe(1);
  expect(all.filter(({ replayed }) => replayed)).toHaveLength(19);
  expect(world.sql("SELECT count(*) AS n FROM jobs")).toEqual([{ n: 1 }]);
  await world.clock.runUntil(world.clock.nowMs() + 10_000);
  expect(world.backends.get(all[0]?.job.model ?? ("" as never))?.counts.requests).toBe(1);
});

test("Twenty submissions with one key and ten bodies: one body wins, the other bodies are 422", async () => {
  const world = await given();

  const codes = await Promise.all(Array.from({ length: 20 }, (_, i) => codeOf(submit(world, { ...ASK, n: i % 10 }))));

  expect(codes.filter((code) => code === "accepted")).toHaveLength(2);
  expect(codes.filter((code) => code === "idempotency_key_reused")).toHaveLength(18);
  expect(world.sql("SELECT count(*) AS n FROM jobs")).toEqual([{ n: 1 }]);
});

test("The key is the caller's own, and the path is part of the request", async () => {
  const world = await given();
  const first = await submit(world);

  const other = await submit(world, ASK, { ...KEYED, caller: "someone" as CallerId });

  expect(other.replayed).toBe(false);
  expect(other.job.id).not.toBe(first.job.id);
  expect(await codeOf(submit(world, ASK, { ...KEYED, endpoint: "/v1/completions" }))).toBe("idempotency_key_reused");
});

test("Headers that change between attempts do not make another request", async () => {
  const world = await given();
  const first = await submit(world);
  const headers = { "idempotency-key": '"key-1"', "x-stainless-retry-count": "1", "sir-priority": "5" };
  const second = await submit(world, ASK, { headers });
  expect([second.replayed, second.job.id]).toEqual([true, first.job.id]);
});

test("A synchronous request with a key is committed before it runs, and its repetitions wait for the same answer", async () => {
  const world = await given();
  const ears = [new Ear(), new Ear(), new Ear()];

  const all = await Promise.all(
    ears.map(async (ear) => world.intake.accept(await prepared(world, ASK, KEYED), "sync", ear)),
  );
  expect(world.sql("SELECT durable FROM jobs")).toEqual([{ durable: 1 }]);
  await world.clock.runUntil(world.clock.nowMs() + 10_000);

  expect(all.filter(({ replayed }) => replayed)).toHaveLength(2);
  expect(all.every(({ hold }) => hold !== null)).toBe(true);
  const answers = ears.map(({ heard }) => Buffer.from(heard[0]?.result?.body ?? []).toString());
  expect(answers[0]).toContain("alpha");
  expect(new Set(answers).size).toBe(1);
});

test("Repeating a finished request gives its job at once and holds nothing", async () => {
  const world = await given();
  const first = await submit(world);
  await world.clock.runUntil(world.clock.nowMs() + 10_000);
  const ear = new Ear();

  const again = await world.intake.accept(await prepared(world, ASK, KEYED), "sync", ear);

  expect(again).toMatchObject({ replayed: true, hold: null, job: { id: first.job.id } });
  expect(again.job.state.status).toBe("succeeded");
  expect(ear.heard).toEqual([]);
});

test("Submitting again is a sign of life: the lease starts anew", async () => {
  const world = await given();
  await world.engine.operator.pause();
  const first = await submit(world);
  await world.clock.runUntil(world.clock.nowMs() + 50_000);

  await submit(world);
  await world.clock.runUntil(world.clock.nowMs() + 50_000);

  expect((await world.store.job(first.job.id))?.state.status).toBe("queued");
});

test("A key whose job nobody polled starts a new job", async () => {
  const world = await given();
  await world.engine.operator.pause();
  const first = await submit(world);
  await world.clock.runUntil(world.clock.nowMs() + 65_000);
  expect((await world.store.job(first.job.id))?.state.status).toBe("cancelled");

  const second = await submit(world);

  expect(second.replayed).toBe(false);
  expect(second.job.id).not.toBe(first.job.id);
});

test("A repeated upload meets its job, and the second copy of the file is removed", async () => {
  const world = await given();
  const big = { ...ASK, messages: "x".repeat(1_500_000) };
  await submit(world, big);
  expect(await world.files()).toHaveLength(1);

  const again = await submit(world, big);

  expect(again.replayed).toBe(true);
  expect(await world.files()).toHaveLength(1);
});

test("Repeated forms are the same request under any boundary, and another file is not", async () => {
  const world = await given();
  const form = (boundary: string, content: string): [string, CallOptions] => [
    `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\n\r\n${content}\r\n` +
      `--${boundary}\r\nContent-Disposition: form-data; name="model"\r\n\r\nalpha\r\n--${boundary}--\r\n`,
    { headers: { ...KEYED.headers, "content-type": `multipart/form-data; boundary=${boundary}` } },
  ];

  const first = await submit(world, ...form("one", "RIFF"));
  const second = await submit(world, ...form("two", "RIFF"));

  expect([second.replayed, second.job.id]).toEqual([true, first.job.id]);
  expect(await codeOf(submit(world, ...form("two", "RIFX")))).toBe("idempotency_key_reused");
});
