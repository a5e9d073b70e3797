// The ollama driver, before a fake that is written from Ollama's documentation and source.

import { describe, expect, it } from "vitest";
import { ollama, ollamaOptions } from "../../src/backends/ollama.ts";
import { sleepUntil } from "../../src/domain/clock.ts";
import { exerciseBackend } from "./contract.ts";
import { fakeOllama } from "./fakes/ollama.ts";
import { exerciseModelServer } from "./model-server.ts";
import { lossOf, never, nextNote, onVirtualTime, specimenOf } from "./model-server-rig.ts";

exerciseBackend(async () => specimenOf(ollama, await fakeOllama("chat-model")));

exerciseModelServer({
  driver: ollama,
  fake: fakeOllama,
  failure: {
    knob: "model requires more system memory (8 GiB) than is available (4 GiB)",
    says: /Ollama would not load chat-model: model requires more system memory .* \(status 500\)/,
  },
});

describe("ollama", () => {
  it("keeps the model for ever, and sends no options that would have /v1 requests reload it", async () => {
    const fake = await fakeOllama("chat-model");

    await onVirtualTime(ollama, fake).load();

    expect(fake.calls("POST", "/api/generate")[0]?.body).toEqual({
      model: "chat-model",
      keep_alive: -1,
      stream: false,
    });
  });

  it("calls a model that spilled into CPU memory one that does not fit, and names who else is there", async () => {
    const fake = await fakeOllama("chat-model", "foreign-model");
    fake.sizeVram = 600;
    fake.set("foreign-model", true);

    const load = onVirtualTime(ollama, fake).load();

    await expect(load).rejects.toThrow(/does not fit: .* by others: foreign-model/);
    expect(fake.loaded()).toEqual(["foreign-model"]);
  });

  it("takes a spilled model where that is allowed", async () => {
    const fake = await fakeOllama("chat-model");
    fake.sizeVram = 0;

    const instance = await onVirtualTime(ollama, fake, { allowCpu: true }).load();

    expect(instance.model).toBe("chat-model");
  });

  it("loads what only embeds by the endpoint that it has", async () => {
    const fake = await fakeOllama("chat-model");
    fake.embedsOnly = true;

    await onVirtualTime(ollama, fake).load();

    expect(fake.calls("POST", "/api/embed")[0]?.body).toEqual({ model: "chat-model", keep_alive: -1, input: [] });
  });

  it("renews its promise when another client had the model set to expire", async () => {
    const fake = await fakeOllama("chat-model");
    const { backend, clock, pass, load } = onVirtualTime(ollama, fake);
    await load();

    fake.expiresAt.set("chat-model", new Date(clock.wallMs() + 60_000).toISOString());

    expect(await pass(nextNote(backend))).toContain("kept for ever again");
    expect(fake.expiresAt.get("chat-model")).toMatch(/^2318/);
  });

  it("goes on looking while a renewal takes as long as a load, and renews once at a time", async () => {
    const fake = await fakeOllama("chat-model");
    const { backend, clock, pass, load } = onVirtualTime(ollama, fake);
    const loss = lossOf(backend);
    await load();
    void fake.renewals.close();
    fake.expiresAt.set("chat-model", new Date(clock.wallMs() + 60_000).toISOString());

    await pass(sleepUntil(clock, clock.nowMs() + 20_000));
    const renewals = fake.asked.filter(({ body }) => body["keep_alive"] === -1).length - 1;
    fake.set("chat-model", false);

    expect(renewals).toBe(1);
    expect((await pass(loss)).detail).toContain("chat-model");
    fake.renewals.open();
  });

  it("notes that another client's options had the model loaded anew", async () => {
    const fake = await fakeOllama("chat-model");
    const { backend, pass, load } = onVirtualTime(ollama, fake);
    await load();

    fake.contextLength = 32_768;

    expect(await pass(nextNote(backend))).toContain("context 4096 became context 32768");
  });

  it("says what is wrong with two names for the same weights, which Ollama serves with one runner", async () => {
    const fake = await fakeOllama("chat-model", "foreign-model");
    fake.sameWeights.set("chat-model", "foreign-model");
    fake.set("foreign-model", true);

    const load = onVirtualTime(ollama, fake).load();

    await expect(load).rejects.toThrow(/lists foreign-model:latest: names with the same weights share one runner/);
  });

  it("says how to get a model that is not there", async () => {
    const fake = await fakeOllama();

    const load = onVirtualTime(ollama, fake).load();

    await expect(load).rejects.toThrow('Ollama has no model chat-model: run "ollama pull chat-model" there');
  });

  it("knows the same model with and without :latest", async () => {
    const fake = await fakeOllama("chat-model");
    const { backend, pass, load } = onVirtualTime(ollama, fake, { models: ["chat-model:latest"] });

    const instance = await load("chat-model:latest");

    expect(await pass(backend.alive(instance, never()))).toBe(true);
  });

  it("shares one driver between the models of one server, whatever the spelling of its address", () => {
    const keyOf = (baseUrl: string) => ollama.shareKey("m" as never, ollamaOptions.parse({ baseUrl }));

    expect(keyOf("http://HOST:11434/")).toBe(keyOf("http://host:11434"));
    expect(keyOf("http://host:11434")).not.toBe(keyOf("http://host:11435"));
  });

  it("wants the server's own address", () => {
    const faultOf = (baseUrl: string) => ollamaOptions.safeParse({ baseUrl }).error?.issues[0]?.message;

    expect(faultOf("http://host:11434/v1")).toContain("did you mean http://host:11434?");
    expect(faultOf("http://me:secret@host")).toContain("use apiKey or headers");
    expect(faultOf("host")).toContain("must be a URL");
  });
});
