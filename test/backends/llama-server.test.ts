// The llama-server driver, before a fake of llama.cpp's router mode.

import { describe, expect, it } from "vitest";
import { llamaServer } from "../../src/backends/llama-server.ts";
import { exerciseBackend } from "./contract.ts";
import { fakeLlamaServer } from "./fakes/llama-server.ts";
import { exerciseModelServer } from "./model-server.ts";
import { lossOf, onVirtualTime, specimenOf } from "./model-server-rig.ts";
import { callOf, chatBody, Taken } from "./samples.ts";

exerciseBackend(async () => specimenOf(llamaServer, await fakeLlamaServer("chat-model")));

exerciseModelServer({
  driver: llamaServer,
  fake: fakeLlamaServer,
  failure: {
    knob: "137",
    says: /llama-server did not load chat-model: its process ended with exit code 137 \(SIGKILL\)/,
  },
});

describe("llama-server", () => {
  it("follows a load that is answered at once", async () => {
    const fake = await fakeLlamaServer("chat-model");
    const { pass, load } = onVirtualTime(llamaServer, fake);
    const reached = fake.knobs.loads.close();
    let done = false;
    const loading = load().then(() => {
      done = true;
    });
    await pass(reached);
    const lists = fake.calls("GET", "/models").length;
    const early = done;

    fake.knobs.loads.open();
    await loading;

    expect(early).toBe(false);
    expect(fake.calls("GET", "/models").length).toBeGreaterThan(lists);
  });

  it("asks nothing that could have the server load by itself", async () => {
    const fake = await fakeLlamaServer("chat-model");
    const { load, send } = onVirtualTime(llamaServer, fake);

    await load();
    await send(callOf("/v1/chat/completions", chatBody()));

    const open = fake.asked.filter(({ path }) => !path.startsWith("/models/") && !path.endsWith("?autoload=false"));
    expect(open).toEqual([]);
  });

  it("puts a request back that finds the model unloaded, instead of handing its 400 to the caller", async () => {
    const fake = await fakeLlamaServer("chat-model");
    const { backend, pass, load, send } = onVirtualTime(llamaServer, fake);
    const loss = lossOf(backend);
    await load();
    fake.exit("chat-model", 134);
    const sink = new Taken();

    const outcome = await send(callOf("/v1/chat/completions", chatBody()), sink);

    expect(outcome).toEqual({ kind: "lost", detail: expect.stringContaining("not loaded") });
    expect(sink.heads).toEqual([]);
    expect((await pass(loss)).detail).toContain("exit code 134 (SIGABRT)");
  });

  it("does not charge a request for a process that died under it before it answered", async () => {
    const fake = await fakeLlamaServer("chat-model");
    const { load, send } = onVirtualTime(llamaServer, fake);
    await load();
    fake.knobs.inferenceStatus = 500;
    const charged = await send(callOf("/v1/chat/completions", chatBody()));

    const infer = fake.infer.bind(fake);
    fake.infer = (asked, response) => {
      fake.exit("chat-model", 139);
      return infer(asked, response);
    };
    const uncharged = await send(callOf("/v1/chat/completions", chatBody()));

    expect([charged.kind, uncharged.kind]).toEqual(["failed", "lost"]);
  });

  it("hands a caller's own 400 through", async () => {
    const fake = await fakeLlamaServer("chat-model");
    const { load, send } = onVirtualTime(llamaServer, fake);
    await load();
    const sink = new Taken();

    const outcome = await send(callOf("/v1/chat/completions", { model: "chat-model" }), sink);

    expect(outcome.kind).toBe("refused");
    expect(sink.json).toEqual({ error: { message: "messages are missing" } });
  });

  it("takes a model that is already being loaded for what it is", async () => {
    const fake = await fakeLlamaServer("chat-model");
    const { load } = onVirtualTime(llamaServer, fake);
    fake.set("chat-model", true);

    await load();

    expect(fake.calls("POST", "/models/load")).toEqual([]);
  });

  it("knows a model by its alias", async () => {
    const fake = await fakeLlamaServer("chat-model");
    const { backend, pass } = onVirtualTime(llamaServer, fake, { models: ["chat-model-alias"] });
    fake.set("chat-model", true);

    const found = await pass(backend.inspect());

    expect(found.map(({ model }) => model)).toEqual(["chat-model-alias"]);
  });

  it("says what to do about a model, a limit or a server that does not fit", async () => {
    const fake = await fakeLlamaServer();
    const missing = onVirtualTime(llamaServer, fake).load();
    await expect(missing).rejects.toThrow(/has no model chat-model: put it into its --models-dir/);

    const single = await fakeLlamaServer("chat-model");
    single.router = false;
    await expect(onVirtualTime(llamaServer, single).load()).rejects.toThrow(/start it without -m, as a router/);
  });

  it("writes down that the server loads and unloads by itself", async () => {
    const fake = await fakeLlamaServer("chat-model");
    const { backend, load } = onVirtualTime(llamaServer, fake);

    await load();

    const notes = (await backend.logs("chat-model" as never, 20)).join("\n");
    expect(notes).toContain("--no-models-autoload");
    expect(notes).toContain("beyond 4 (--models-max)");
  });
});
