// What simulated days have found, each as the shortest story that shows it.

import { describe, expect, it } from "vitest";
import { LOCAL_CALLER } from "../../src/domain/ids.ts";
import type { IncomingCall } from "../../src/intake/intake.ts";
import { given } from "../given.ts";

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
});
