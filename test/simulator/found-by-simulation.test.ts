// What simulated days have found, each as the shortest story that shows it.

import { describe, expect, it } from "vitest";
import { LoadError } from "../../src/backends/backend.ts";
import { LOCAL_CALLER } from "../../src/domain/ids.ts";
import type { IncomingCall } from "../../src/intake/intake.ts";
import { given } from "../given.ts";
import { overlay } from "../world/overlay.ts";

const call = (headers: Readonly<Record<string, string>>): IncomingCall => ({
  endpoint: "/v1/chat/completions",
  caller: LOCAL_CALLER,
  header: (name) => ({ "content-type": "application/json", ...headers })[name] ?? null,
  body: (async function* () {
    yield Buffer.from(JSON.stringify({ model: "chat", messages: [{ role: "user", content: "hi" }] }));
  })(),
});

describe("found by simulation", () => {
  it("an answer was stored empty when its only socket had closed before the first byte (seed 22)", async () => {
    const world = await given({ models: { chat: {} }, resident: "chat" });
    const listener = { live: null, done: () => undefined };
    const accept = async () =>
      world.intake.accept(await world.intake.prepare(call({ "idempotency-key": "k" })), "sync", listener);
    const first = await world.answer(accept());
    await world.advance(50);

    first.detach();
    first.hold?.drop(10_000);
    await world.advance(20);
    const second = await world.answer(accept());
    const job = await world.answer(world.engine.finished(second.job.id, Number.MAX_SAFE_INTEGER));

    const result = await world.store.result(second.job.id);
    expect(second.job.id).toBe(first.job.id);
    expect(job?.state.status).toBe("succeeded");
    expect(Buffer.from(result?.body ?? []).toString()).toContain("chat.completion");
  });

  it("a running job lost its slot to the timer of its own earlier attempt (seed 60)", async () => {
    let stops = 0;
    const world = await given({
      models: { chat: { concurrency: 1 }, translate: { priority: 50 } },
      resident: "chat",
      scheduler: { drainSeconds: 5, minResidencySeconds: 0 },
      // The first stop fails at once, so that the interrupted job starts again on the very same engine.
      wrap: (backend) =>
        overlay(backend, {
          stop: async (...args) => {
            if (++stops === 1) throw new LoadError("the engine's keeper does not answer");
            return backend.stop(...args);
          },
        }),
    });
    world.arrive("chat", { atMs: 0, tokens: 4_000 });
    const other = world.arrive("translate", { atMs: 1_000 });
    await world.until("drain.overdue");
    await world.answer(world.engine.cancel((await world.job(other)).id, "client"));

    await world.advance(15_000);

    const chat = world.engine.status().models.find(({ spec }) => spec.name === "chat");
    expect(chat).toMatchObject({ state: "resident", running: 1 });
    expect(world.engine.queue.queuedTotal()).toBe(0);
  });
});
