// From a request to a job: what is refused and leaves nothing, what is stored before it is answered, what runs at once.

import { expect, test } from "vitest";
import { StoreError } from "../../src/store/store.ts";
import { ASK, callOf, codeOf, Ear, errorOf, given, prepared, verbsOf } from "./given.ts";

test("A receipt is given for a job that is committed already, and the job is then served", async () => {
  const world = await given();

  const accepted = await world.intake.accept(await prepared(world), "async");

  expect(world.sql("SELECT id, durable FROM jobs")).toEqual([{ id: accepted.job.id, durable: 1 }]);
  expect(accepted).toMatchObject({ replayed: false, hold: null });
  await world.clock.runUntil(world.clock.nowMs() + 10_000);
  expect((await world.store.job(accepted.job.id))?.state.status).toBe("succeeded");
});

test("A plain synchronous request becomes a job in the very tick, and its body is not stored", async () => {
  const world = await given();
  const call = await prepared(world);
  const ear = new Ear();

  void world.intake.accept(call, "sync", ear);

  expect(world.engine.queue.queuedTotal()).toBe(1);
  await world.clock.runUntil(world.clock.nowMs() + 10_000);
  expect(ear.heard).toHaveLength(1);
  expect(ear.heard[0]?.job.state.status).toBe("succeeded");
  expect(JSON.parse(Buffer.from(ear.heard[0]?.result?.body ?? []).toString())).toMatchObject({ model: "alpha" });
  expect(world.sql("SELECT * FROM bodies")).toEqual([]);
});

test("What the engine gets is byte for byte what the caller sent", async () => {
  const world = await given();
  const text = `{ "model" : "al\\u0070ha",\n "messages": [], "n": 1.50, "x": "caf\u00e9" }`;

  const accepted = await world.intake.accept(await prepared(world, text), "async");

  const body = await world.store.body(accepted.job.id);
  expect(accepted.job.model).toBe("alpha");
  expect(body?.source.kind === "bytes" ? Buffer.from(body.source.bytes).toString() : null).toBe(text);
  expect(body?.modelSpan).toEqual([13, 23]);
});

test("An unknown model is refused at submit, and nothing is stored", async () => {
  const world = await given();

  const error = await errorOf(prepared(world, { ...ASK, model: "alhpa" }));

  expect(error.code).toBe("model_not_found");
  expect(error.message).toContain('Did you mean "alpha"?');
  expect(world.sql("SELECT * FROM jobs")).toEqual([]);
});

test("An alias and the name make jobs of one model", async () => {
  const world = await given();
  const first = await world.intake.accept(await prepared(world, { ...ASK, model: "chat" }), "async");
  const second = await world.intake.accept(await prepared(world), "async");
  expect([first.job.model, second.job.model]).toEqual(["alpha", "alpha"]);
});

test("Of two keys of one name the last counts, as for the engine", async () => {
  const world = await given();

  const call = await prepared(world, '{"model":"alpha","stream":true,"model":"beta","stream":false}');

  expect(call.model.name).toBe("beta");
  expect(call.fields.stream).toBe(false);
});

test("Headers beat the body's service_tier, and a priority in the body is the engine's", async () => {
  const world = await given();
  const priority = async (body: object, headers: Record<string, string> = {}) =>
    (await prepared(world, { ...ASK, ...body }, { headers })).priority;

  expect(await priority({ service_tier: "flex" })).toBe(-100);
  expect(await priority({ service_tier: "priority" })).toBe(100);
  expect(await priority({ service_tier: "flex" }, { "sir-priority": "7" })).toBe(7);
  expect(await priority({ service_tier: "flex" }, { "x-llamaswap-priority": "junk" })).toBe(0);
  expect(await priority({ priority: 99 })).toBe(0);
});

test("Mixed types where a priority may stand never fail", async () => {
  const world = await given();
  for (const tier of [1, null, true, [], {}, "turbo", "x".repeat(5000)]) {
    for (const priority of [1.5, "high", null, [1], { a: 1 }]) {
      expect((await prepared(world, { ...ASK, service_tier: tier, priority, store: "maybe" })).priority).toBe(0);
    }
  }
});

test("While the router is drained nothing new is taken", async () => {
  const world = await given();
  await world.engine.operator.drain();
  const error = await errorOf(prepared(world));
  expect([error.code, error.kind.status]).toEqual(["draining", 503]);
});

test("A store that cannot commit is 503 and leaves neither job nor file", async () => {
  const world = await given({
    storeAs: (store) => ({
      ...verbsOf(store),
      add: () => Promise.reject(new StoreError("unavailable", "disk is read-only")),
    }),
  });
  const call = await prepared(world, { ...ASK, messages: "x".repeat(2_000_000) });
  expect(await world.files()).toHaveLength(1);

  const error = await errorOf(world.intake.accept(call, "async"));

  expect(error.code).toBe("store_unavailable");
  expect(error.message).not.toContain("xxx");
  expect(await world.files()).toEqual([]);
  expect(world.engine.queue.queuedTotal()).toBe(0);
});

test("A write whose outcome was unknown, but which was committed, is accepted once and served", async () => {
  const world = await given({
    storeAs: (store) => ({
      ...verbsOf(store),
      add: async (job) => {
        await store.add(job);
        throw new StoreError("unknown", "no answer within 10 s");
      },
    }),
  });

  const accepted = await world.intake.accept(await prepared(world), "async");

  await world.clock.runUntil(world.clock.nowMs() + 10_000);
  expect((await world.store.job(accepted.job.id))?.state.status).toBe("succeeded");
});

test("A write whose outcome is unknown is 503 and keeps the body's file, for the row may be there", async () => {
  const world = await given({
    storeAs: (store) => ({
      ...verbsOf(store),
      add: () => Promise.reject(new StoreError("unknown", "no answer within 10 s")),
      job: () => Promise.reject(new StoreError("unavailable", "no answer")),
    }),
  });
  const call = await prepared(world, { ...ASK, messages: "x".repeat(2_000_000) });
  expect(await codeOf(world.intake.accept(call, "async"))).toBe("store_unavailable");
  expect(await world.files()).toHaveLength(1);
});

test("A plain request is served even when its row cannot be written, and the failure is told", async () => {
  const world = await given({
    storeAs: (store) => ({
      ...verbsOf(store),
      addVolatile: (job) => {
        const { job: row, recorded } = store.addVolatile(job);
        void recorded;
        return { job: row, recorded: Promise.reject(new StoreError("unavailable", "disk full")) };
      },
    }),
  });
  const ear = new Ear();

  await world.intake.accept(await prepared(world), "sync", ear);
  await world.clock.runUntil(world.clock.nowMs() + 10_000);

  expect(ear.heard[0]?.job.state.status).toBe("succeeded");
  expect(world.events).toContainEqual({ type: "store.unavailable", verb: "addVolatile", detail: "disk full" });
});

test("Over the byte bound, with nothing read to remove, new work is refused and its file is removed", async () => {
  const world = await given({ maxStoredBytes: 1_000_000 });
  const call = await prepared(world, { ...ASK, messages: "x".repeat(2_000_000) });
  const error = await errorOf(world.intake.accept(call, "async"));
  expect([error.code, error.kind.status]).toEqual(["storage_full", 503]);
  expect(await world.files()).toEqual([]);
});

test("A body that breaks off in the middle is no job and leaves no file", async () => {
  const world = await given();
  async function* breaking(): AsyncGenerator<Uint8Array> {
    yield Buffer.from(`{"model":"alpha","messages":"${"x".repeat(2_000_000)}`);
    throw new Error("socket closed");
  }
  await expect(world.intake.prepare(callOf(breaking()))).rejects.toThrow("socket closed");
  expect(await world.files()).toEqual([]);
});
