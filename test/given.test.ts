import { describe, expect, it } from "vitest";
import { given } from "./given.ts";

describe("a given world", () => {
  it("runs waiting jobs of the resident model before paying for a swap", async () => {
    const world = await given({ models: { chat: {}, translate: {} }, resident: "chat", policy: "longest" });

    world.arrive("chat", { atMs: 0 });
    world.arrive("translate", { atMs: 50 });
    world.arrive("chat", { atMs: 100 });
    await world.runUntilIdle();

    expect(world.order()).toEqual(["chat", "chat", "translate"]);
    expect(world.swaps()).toBe(1);
    expect(world.elapsedMs()).toBe(1_900 + 500 + 8_000 + 1_800);
  });

  it("answers over HTTP in virtual time", async () => {
    const world = await given({ models: { chat: {} } });
    const call = {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: '{"model":"chat","messages":[{"role":"user","content":"hi"}]}',
    };

    const plain = await world.answer(world.app.request("/v1/chat/completions", call));
    const receipt = await world.answer(
      world.app.request("/v1/chat/completions", { ...call, headers: { ...call.headers, prefer: "respond-async" } }),
    );

    expect(plain.status).toBe(200);
    expect(await plain.json()).toMatchObject({ object: "chat.completion" });
    expect(receipt.status).toBe(202);
  });

  it("keeps what a refusal said", async () => {
    const world = await given({ models: { chat: {} } });

    const arrived = world.arrive("chaz");
    await world.runUntilIdle();

    expect(arrived).toMatchObject({ id: null, error: { code: "model_not_found" } });
  });
});
