// The lmstudio driver, before a fake that is written from LM Studio's documentation.

import { describe, expect, it } from "vitest";
import { lmstudio } from "../../src/backends/lmstudio.ts";
import { sleepUntil } from "../../src/domain/clock.ts";
import { exerciseBackend } from "./contract.ts";
import { fakeLmstudio } from "./fakes/lmstudio.ts";
import { exerciseModelServer } from "./model-server.ts";
import { never, onVirtualTime, specimenOf } from "./model-server-rig.ts";
import { callOf, chatBody } from "./samples.ts";

exerciseBackend(async () => specimenOf(lmstudio, await fakeLmstudio("chat-model")));

exerciseModelServer({
  driver: lmstudio,
  fake: fakeLmstudio,
  failure: { knob: "Insufficient system resources", says: /would not load chat-model: Insufficient system resources/ },
});

describe("lmstudio", () => {
  it("unloads by instance, every instance that there is of the model", async () => {
    const fake = await fakeLmstudio("chat-model");
    const { backend, pass, load } = onVirtualTime(lmstudio, fake);
    const instance = await load();
    fake.set("chat-model", true);

    await pass(backend.stop(instance, 0, never()));

    const ids = fake.calls("POST", "/api/v1/models/unload").map(({ body }) => body["instance_id"]);
    expect(ids).toEqual(["chat-model", "chat-model:2"]);
  });

  it("does not load a second instance of what is loaded as wanted", async () => {
    const fake = await fakeLmstudio("chat-model");
    fake.set("chat-model", true);

    await onVirtualTime(lmstudio, fake, { contextLength: 4096 }).load();

    expect(fake.calls("POST", "/api/v1/models/load")).toEqual([]);
  });

  it("replaces an instance with another context by one that is as wanted", async () => {
    const fake = await fakeLmstudio("chat-model");
    fake.set("chat-model", true);

    await onVirtualTime(lmstudio, fake, { contextLength: 16_384, flashAttention: true }).load();

    expect(fake.calls("POST", "/api/v1/models/unload").length).toBe(1);
    expect(fake.calls("POST", "/api/v1/models/load")[0]?.body).toEqual({
      model: "chat-model",
      context_length: 16_384,
      flash_attention: true,
      echo_load_config: true,
    });
  });

  it("waits for a load that was given up to end, because closing the connection does not end it", async () => {
    const fake = await fakeLmstudio("chat-model");
    const { backend, clock, pass, load } = onVirtualTime(lmstudio, fake);
    const reached = fake.knobs.loads.close();
    const giveUp = new AbortController();
    const placement = { instance: "ins_a" as never, model: "chat-model" as never, device: null };
    const loading = backend.start(placement, () => undefined, giveUp.signal);
    await pass(reached);
    let settled = false;
    loading.catch(() => {
      settled = true;
    });

    giveUp.abort();
    await pass(sleepUntil(clock, clock.nowMs() + 20_000));
    const early = settled;
    fake.knobs.loads.open();

    await expect(pass(loading)).rejects.toThrow("given up");
    expect(early).toBe(false);
    expect(fake.loaded()).toEqual([]);
    expect((await load()).model).toBe("chat-model");
  });

  it("warns of just-in-time loading, and takes its refusal for a lost model", async () => {
    const fake = await fakeLmstudio("chat-model");
    const { backend, load, send } = onVirtualTime(lmstudio, fake);
    await load();
    fake.set("chat-model", false);

    const outcome = await send(callOf("/v1/chat/completions", chatBody()));

    expect(outcome.kind).toBe("lost");
    expect((await backend.logs("chat-model" as never, 20)).join("\n")).toContain("just-in-time loading");
  });

  it("says when the token is missing or the version too old", async () => {
    const guarded = await fakeLmstudio("chat-model");
    guarded.token = "lm-secret";
    await expect(onVirtualTime(lmstudio, guarded).load()).rejects.toThrow(/check apiKey/);
    expect((await onVirtualTime(lmstudio, guarded, { apiKey: "lm-secret" }).load()).model).toBe("chat-model");

    const old = await fakeLmstudio("chat-model");
    old.v1 = false;
    await expect(onVirtualTime(lmstudio, old).load()).rejects.toThrow(/LM Studio 0\.4 or later is needed/);
  });
});
