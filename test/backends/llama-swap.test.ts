// The llama-swap driver, before a fake that is written from llama-swap's documentation and source.

import { describe, expect, it } from "vitest";
import { llamaSwap } from "../../src/backends/llama-swap.ts";
import { exerciseBackend } from "./contract.ts";
import { fakeLlamaSwap } from "./fakes/llama-swap.ts";
import { exerciseModelServer } from "./model-server.ts";
import { lossOf, never, onVirtualTime, specimenOf } from "./model-server-rig.ts";

exerciseBackend(async () => specimenOf(llamaSwap, await fakeLlamaSwap("chat-model")));

exerciseModelServer({
  driver: llamaSwap,
  fake: fakeLlamaSwap,
  failure: { knob: "upstream command exited prematurely", says: /would not start chat-model: .*exited prematurely/ },
});

describe("llama-swap", () => {
  it("has a model started by asking its own server something, by a name with slashes too", async () => {
    const fake = await fakeLlamaSwap("author/model:q4");

    await onVirtualTime(llamaSwap, fake, { models: ["author/model:q4"], wakePath: "/v1/models" }).load(
      "author/model:q4",
    );

    expect(fake.asked.map(({ path }) => path)).toContain("/upstream/author/model%3Aq4/v1/models");
  });

  it("tells that another client had it swap to another model", async () => {
    const fake = await fakeLlamaSwap("chat-model", "foreign-model");
    const { backend, pass, load } = onVirtualTime(llamaSwap, fake);
    const loss = lossOf(backend);
    await load();

    fake.swapTo("foreign-model");

    expect((await pass(loss)).detail).toMatch(/no longer has chat-model loaded: somebody else/);
  });

  it("takes over a model that another client had started", async () => {
    const fake = await fakeLlamaSwap("chat-model");
    fake.swapTo("chat-model");

    await onVirtualTime(llamaSwap, fake).load();

    expect(fake.asked.filter(({ path }) => path.startsWith("/upstream/"))).toEqual([]);
  });

  it("unloads everything only where nothing else runs, on versions that cannot unload one", async () => {
    const fake = await fakeLlamaSwap("chat-model", "foreign-model");
    fake.unloadsOne = false;
    const { backend, pass, load } = onVirtualTime(llamaSwap, fake);
    const instance = await load();
    fake.set("foreign-model", true);

    const refused = pass(backend.stop(instance, 0, never()));
    await expect(refused).rejects.toThrow(/can only unload all models at once: update it/);
    expect(fake.loaded()).toEqual(["chat-model", "foreign-model"]);

    fake.set("foreign-model", false);
    await pass(backend.stop(instance, 0, never()));
    expect(fake.loaded()).toEqual([]);
  });

  it("gives llama-swap's own log, also with a failed load", async () => {
    const fake = await fakeLlamaSwap("chat-model");
    fake.log = "[INFO] <chat-model> starting\n\nggml: out of memory\n";
    fake.knobs.failLoads = "exited";
    const { backend, load } = onVirtualTime(llamaSwap, fake);

    await expect(load()).rejects.toMatchObject({ logTail: ["[INFO] <chat-model> starting", "ggml: out of memory"] });
    expect(await backend.logs("chat-model" as never, 1)).toEqual(["ggml: out of memory"]);
  });

  it("says that a model is not in its configuration", async () => {
    const fake = await fakeLlamaSwap();

    await expect(onVirtualTime(llamaSwap, fake).load()).rejects.toThrow("llama-swap has no model chat-model");
  });
});
