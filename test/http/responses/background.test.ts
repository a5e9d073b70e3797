// Background responses through the official client: made, read, cancelled, deleted, in the shapes that it accepts.

import OpenAI from "openai";
import { describe, expect, it } from "vitest";
import { get, nextCall, passes, post, quiet, settled } from "../given.ts";
import { engineResponse, INPUT, site } from "./given.ts";

const REQUIRED = [
  ...["id", "object", "created_at", "error", "incomplete_details", "instructions", "model", "tools", "output"],
  ...["parallel_tool_calls", "metadata", "tool_choice", "temperature", "top_p"],
];

describe("a background response", () => {
  it("is queued at once with every required key, runs, and holds the engine's answer under our id", async () => {
    const world = await site();
    const tools = [{ type: "function" as const, name: "f", parameters: {}, strict: null }];
    const asked = { ...INPUT, instructions: "be kind", metadata: { team: "a" }, temperature: 0.5, tools };
    const made = await world.wait(world.client.responses.create(asked));
    const call = await nextCall(world);
    const running = await world.wait(world.client.responses.retrieve(made.id));
    call.answer(engineResponse());
    await quiet(world);
    const done = await world.wait(world.client.responses.retrieve(made.id));

    expect(made.id).toMatch(/^resp_[0-9a-f]{32}$/);
    for (const key of REQUIRED) expect(made).toHaveProperty(key);
    expect(made).toMatchObject({ object: "response", status: "queued", background: true, output: [], error: null });
    expect(made).toMatchObject({ instructions: "be kind", metadata: { team: "a" }, temperature: 0.5, tools });
    expect(running).toMatchObject({ id: made.id, status: "in_progress" });
    expect(done).toMatchObject({ id: made.id, status: "completed", background: true, output_text: "hello there" });
    expect(done).toMatchObject({ created_at: made.created_at, instructions: "be kind", usage: { total_tokens: 3 } });
    expect(world.wire.map(({ status }) => status)).toEqual([200, 200, 200]);
  });

  it("reaches the engine byte for byte but for `background`, which is ours", async () => {
    const world = await site();
    const text = '{"model":"chat" , "input":"a \\"background\\": true b","background" : true, "top_k":1.0}';
    await settled(world, post(world, text, { path: "/v1/responses" }));

    const call = await nextCall(world);

    expect((await call.body).toString()).toBe(text.replace('"background" : true', '"background" : null'));
    expect(call.call.endpoint).toBe("/v1/responses");
  });

  it("has no lease: nobody has to poll", async () => {
    const world = await site();
    const { id } = await world.wait(world.client.responses.create(INPUT));
    const call = await nextCall(world);
    await passes(world, 600_000);

    call.answer(engineResponse());
    await quiet(world);

    expect((await world.wait(world.client.responses.retrieve(id))).status).toBe("completed");
  });

  it("survives the death of its router", async () => {
    const before = await site();
    const { id } = await before.wait(before.client.responses.create(INPUT));
    await nextCall(before);

    const after = await site({ database: before.database, clock: before.clock });
    (await nextCall(after)).answer(engineResponse());
    await quiet(after);

    expect(await after.wait(after.client.responses.retrieve(id))).toMatchObject({ id, status: "completed" });
  });

  it("is one job under one Idempotency-Key", async () => {
    const world = await site();
    const options = { headers: { "idempotency-key": "k" } };

    const [first, second] = [
      await world.wait(world.client.responses.create(INPUT, options)),
      await world.wait(world.client.responses.create(INPUT, options)),
    ];

    expect(second.id).toBe(first.id);
  });

  it("that the engine refuses is failed with its words, and one that it breaks with ours", async () => {
    const world = await site();
    const refused = await world.wait(world.client.responses.create(INPUT));
    (await nextCall(world)).answer('{"error":{"message":"input is too long"}}', 400);
    await quiet(world);
    world.backend.script = (call) => call.end({ kind: "failed", code: "backend_error", detail: "the engine broke" });
    const broken = await world.wait(world.client.responses.create(INPUT));
    await passes(world, 20_000);

    expect(await world.wait(world.client.responses.retrieve(refused.id))).toMatchObject({
      status: "failed",
      error: { code: "invalid_prompt", message: "input is too long" },
      output: [],
    });
    expect(await world.wait(world.client.responses.retrieve(broken.id))).toMatchObject({
      status: "failed",
      error: { code: "server_error", message: "the engine broke" },
    });
  });

  it("is also a job, found by its metadata", async () => {
    const world = await site();
    const { id } = await world.wait(world.client.responses.create({ ...INPUT, metadata: { team: "a" } }));

    const list = await settled(world, get(world, "/v1/jobs?metadata[team]=a"));

    expect(await list.json()).toMatchObject({ data: [{ id: id.replace("resp_", "job_"), lease: null }] });
  });

  it("with a request of megabytes is read without stopping others, also from a file", async () => {
    const world = await site();
    const input = "x".repeat(1_500_000);

    const made = await world.client.responses.create({ ...INPUT, input, instructions: "be kind" });

    expect(made).toMatchObject({ status: "queued", instructions: "be kind" });
    expect(await world.client.responses.retrieve(made.id)).toMatchObject({ instructions: "be kind" });
  });
});

describe("the end of a background response", () => {
  it("comes by cancel, and cancelling what is over changes nothing", async () => {
    const world = await site();
    const { responses } = world.client;
    const done = await world.wait(responses.create(INPUT));
    (await nextCall(world)).answer(engineResponse());
    await quiet(world);
    const running = await world.wait(responses.create(INPUT));
    const call = await nextCall(world);

    const first = await world.wait(responses.cancel(running.id));
    const second = await world.wait(responses.cancel(running.id));
    const late = await world.wait(responses.cancel(done.id));

    expect(call.aborted).toBe(true);
    expect(first).toMatchObject({ id: running.id, status: "cancelled" });
    expect(second).toEqual(first);
    await world.wait(responses.retrieve(done.id));
    expect(await world.wire.at(-2)?.text).toBe(await world.wire.at(-1)?.text);
    expect(late).toMatchObject({ status: "completed", error: null });
  });

  it("comes by delete, after which it is unknown, and a live one is cancelled", async () => {
    const world = await site();
    const { responses } = world.client;
    const running = await world.wait(responses.create(INPUT));
    const call = await nextCall(world);

    await world.wait(responses.delete(running.id));

    expect(await world.wire.at(-1)?.text).toBe(`{"id":"${running.id}","object":"response","deleted":true}`);
    expect(call.aborted).toBe(true);
    for (const ask of [() => responses.retrieve(running.id), () => responses.cancel(running.id)]) {
      const error = await world.wait(ask().then(undefined, (reason: unknown) => reason));
      expect(error).toBeInstanceOf(OpenAI.NotFoundError);
      expect(error).toMatchObject({ code: "response_not_found" });
    }
  });

  it("cannot come by cancel when it is no background response: 400 not_background, or unknown", async () => {
    const world = await site();
    const receipt = await settled(
      world,
      post(world, { ...INPUT, background: false }, { path: "/v1/responses", headers: { prefer: "respond-async" } }),
    );
    const { id } = (await receipt.json()) as { id: string };
    const errors = [];
    for (const name of [id.replace("job_", "resp_"), `resp_${"0".repeat(32)}`, "resp_1"]) {
      errors.push(await world.wait(world.client.responses.cancel(name).then(undefined, (reason: unknown) => reason)));
    }

    expect(errors).toMatchObject([
      { status: 400, code: "not_background" },
      { status: 404, code: "response_not_found" },
      { status: 404, code: "response_not_found" },
    ]);
  });
});

describe("a request that cannot be carried out in the background", () => {
  it.each([
    ["store", { store: false }],
    ["previous_response_id", { previous_response_id: "resp_1" }],
    ["conversation", { conversation: "conv_1" }],
    ["metadata", { metadata: { n: "x".repeat(513) } }],
  ])("is refused by the name %s", async (param, more) => {
    const world = await site();

    const error = await world.wait(
      world.client.responses.create({ ...INPUT, ...more }).then(undefined, (reason: unknown) => reason),
    );

    expect(error).toMatchObject({ status: 400, code: "invalid_body", param });
    expect((error as Error).message).toContain(`"${param}"`);
  });

  it("is passed through when it is synchronous", async () => {
    const world = await site();
    const asked = { model: "chat", input: "hello", previous_response_id: "resp_engine", store: false };
    const answer = world.client.responses.create(asked);
    const call = await nextCall(world);
    call.answer(engineResponse());

    expect((await world.wait(answer)).id).toBe("resp_engine");
    expect((await call.body).toString()).toBe(JSON.stringify(asked));
  });
});
