// The triton driver, before a fake that is written from Triton's documentation.

import { describe, expect, it } from "vitest";
import { triton } from "../../src/backends/triton.ts";
import { exerciseBackend } from "./contract.ts";
import type { FakeServer } from "./fakes/fake-server.ts";
import { fakeTriton } from "./fakes/triton.ts";
import { exerciseModelServer } from "./model-server.ts";
import { onVirtualTime, specimenOf } from "./model-server-rig.ts";
import { callOf, chatBody, Taken } from "./samples.ts";

const both = (fake: FakeServer) => ({ inferenceUrl: fake.origin });
const rig = (fake: FakeServer, over: object = {}) => onVirtualTime(triton, fake, { ...both(fake), ...over });

exerciseBackend(async () => {
  const fake = await fakeTriton("chat-model");
  return specimenOf(triton, fake, both(fake));
});

exerciseModelServer({
  driver: triton,
  fake: fakeTriton,
  options: both,
  failure: {
    knob: "Internal: unable to create stream",
    says: /Triton would not load chat-model: failed to load 'chat-model', Internal: .* \(status 400\)/,
  },
});

describe("triton", () => {
  it("does not reload what is loaded, and unloads what depends on it too", async () => {
    const fake = await fakeTriton("chat-model");
    const { backend, pass, load } = rig(fake);
    fake.set("chat-model", true);

    const instance = await load();
    await pass(backend.stop(instance, 0, new AbortController().signal));

    expect(fake.calls("POST", "/v2/repository/models/chat-model/load")).toEqual([]);
    const [unload] = fake.calls("POST", "/v2/repository/models/chat-model/unload");
    expect(unload?.body).toEqual({ parameters: { unload_dependents: true } });
  });

  it("loads with the configuration that it is given, as a string", async () => {
    const fake = await fakeTriton("chat-model");

    await rig(fake, { config: { max_batch_size: 4 } }).load();

    const [load] = fake.calls("POST", "/v2/repository/models/chat-model/load");
    expect(load?.body).toEqual({ parameters: { config: '{"max_batch_size":4}' } });
  });

  it("serves at the OpenAI frontend's address", async () => {
    const [control, frontend] = [await fakeTriton("chat-model"), await fakeTriton("chat-model")];
    frontend.set("chat-model", true);
    const { load, send } = onVirtualTime(triton, control, { inferenceUrl: frontend.origin });
    await load();

    const outcome = await send(callOf("/v1/chat/completions", chatBody()));

    expect(outcome.kind).toBe("succeeded");
    expect(control.asked.filter(({ path }) => path.startsWith("/v1/"))).toEqual([]);
  });

  it("puts a request back for which the frontend knows no such model any more", async () => {
    const fake = await fakeTriton("chat-model");
    const { load, send } = rig(fake);
    await load();
    fake.set("chat-model", false);

    expect((await send(callOf("/v1/chat/completions", chatBody()))).kind).toBe("lost");
  });

  it("refuses response_format with a reason before the engine hears of it (S3)", async () => {
    const fake = await fakeTriton("chat-model");
    const { load, send } = rig(fake);
    await load();
    const before = fake.asked.length;
    const sink = new Taken();

    const outcome = await send(
      callOf("/v1/chat/completions", chatBody({ response_format: { type: "json_object" } })),
      sink,
    );

    expect(outcome).toEqual({ kind: "refused" });
    expect(sink.heads).toEqual([{ status: 400, headers: { "content-type": "application/json" } }]);
    expect(sink.json).toMatchObject({ error: { code: "engine_incompatible", param: "response_format" } });
    expect(fake.asked.length).toBe(before);
  });

  it("never sends the whole of a long body that turns out to have it, wherever it stands", async () => {
    const fake = await fakeTriton("chat-model");
    const { load, send } = rig(fake);
    await load();
    const before = fake.asked.length;
    const long = { ...chatBody({ user: "x".repeat(3_000_000) }), response_format: { type: "json_schema" } };

    const outcome = await send(callOf("/v1/chat/completions", long));

    expect(outcome.kind).toBe("refused");
    expect(fake.asked.slice(before).filter(({ body }) => "messages" in body)).toEqual([]);
  });

  it("sends bodies without it byte for byte, long and short, and such as ask for plain text", async () => {
    const fake = await fakeTriton("chat-model");
    const { load, send } = rig(fake);
    await load();
    const bodies = [
      chatBody({ user: "y".repeat(3_000_000) }),
      chatBody({ metadata: { response_format: "nested" }, messages: [{ content: '"response_format": {}' }] }),
      chatBody({ response_format: { type: "text" } }),
      chatBody({ response_format: null }),
    ];

    for (const body of bodies) {
      expect((await send(callOf("/v1/chat/completions", body))).kind).toBe("succeeded");
      expect(fake.asked.at(-1)?.body).toEqual(body);
    }
  });

  it("sends it where the frontend is said to pass it on", async () => {
    const fake = await fakeTriton("chat-model");
    const { load, send } = rig(fake, { passesResponseFormat: true });
    await load();

    const outcome = await send(callOf("/v1/chat/completions", chatBody({ response_format: { type: "json_object" } })));

    expect(outcome.kind).toBe("succeeded");
  });
});
