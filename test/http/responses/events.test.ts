// A background response as events: in OpenAI's order, counted from 0 without a gap, replayed and followed.

import { describe, expect, it } from "vitest";
import { type Given, get, nextCall, passes, post, quiet, settled } from "../given.ts";
import { engineEvents, engineResponse, INPUT, type Site, site } from "./given.ts";

const STREAM = { ...INPUT, stream: true } as const;
const SSE = { "content-type": "text/event-stream" };

interface Event {
  readonly type: string;
  readonly sequence_number: number;
  readonly delta?: string;
  readonly response?: { readonly id: string; readonly status: string; readonly background: boolean };
}

function eventsOf(text: string): Event[] {
  return text.split("\n\n").flatMap((block) => {
    const line = block.split("\n").find((each) => each.startsWith("data: "));
    return line === undefined ? [] : [JSON.parse(line.slice(6)) as Event];
  });
}

/** A response whose stream is over: its id and the bytes of the stream that made it. */
async function streamed(world: Site, deltas = ["hel", "lo"]): Promise<{ id: string; text: string }> {
  const made = await settled(world, post(world, STREAM, { path: "/v1/responses" }));
  (await nextCall(world)).answer(engineEvents(deltas).join(""), 200, SSE);
  const text = await settled(world, made.text());
  return { id: eventsOf(text)[0]?.response?.id ?? "", text };
}

const read = async (world: Given, id: string, query = ""): Promise<string> =>
  settled(world, (await settled(world, get(world, `/v1/responses/${id}?stream=true${query}`))).text());

describe("the events of a background response", () => {
  it("begin with created and queued, go on with the engine's under our id, and have no gap, id or [DONE]", async () => {
    const world = await site();

    const { text } = await streamed(world);
    const events = eventsOf(text);

    expect(events.map(({ sequence_number: n }) => n)).toEqual(events.map((_, i) => i));
    expect(events.map(({ type }) => type)).toEqual([
      ...["response.created", "response.queued", "response.in_progress", "response.output_item.added"],
      ...["response.content_part.added", "response.output_text.delta", "response.output_text.delta"],
      ...["response.output_text.done", "response.content_part.done", "response.output_item.done", "response.completed"],
    ]);
    expect(events[0]?.response?.status).toBe("queued");
    for (const { response } of events) if (response !== undefined) expect(response.background).toBe(true);
    expect(new Set(events.flatMap(({ response }) => (response === undefined ? [] : [response.id]))).size).toBe(1);
    for (const [i, block] of text.trimEnd().split("\n\n").entries())
      expect(block).toMatch(`event: ${events[i]?.type}\n`);
    expect(text).not.toMatch(/^(id|retry):|\[DONE\]/m);
  });

  it("are replayed byte for byte until their time is over, from the first or behind any of them", async () => {
    const world = await site();
    const { id, text } = await streamed(world);
    const blocks = text.split(/(?<=\n\n)/);

    expect(await read(world, id)).toBe(text);
    expect(await read(world, id, "&starting_after=0")).toBe(blocks.slice(1).join(""));
    expect(await read(world, id, "&starting_after=6")).toBe(blocks.slice(7).join(""));
    expect(await read(world, id, "&starting_after=99")).toBe("");
  });

  it("come as they are made, to everyone who follows, and cost the job nothing when somebody leaves", async () => {
    const world = await site();
    const blocks = engineEvents(["hel", "lo"]);
    const made = await settled(world, post(world, STREAM, { path: "/v1/responses" }));
    const call = await nextCall(world);
    call.head(200, SSE);
    for (const block of blocks.slice(0, 5)) void call.send(block);
    await quiet(world);
    await made.body?.cancel();
    const id = (
      await settled(world, get(world, "/v1/jobs")).then(
        async (list) => (await list.json()) as { data: { id: string }[] },
      )
    ).data[0]?.id.replace("job_", "resp_");
    const late = await settled(world, get(world, `/v1/responses/${id}?stream=true&starting_after=4`));
    await passes(world, 30_000);

    // Torn inside an event, as sockets do.
    const rest = blocks.slice(5).join("");
    void call.send(rest.slice(0, 40));
    void call.send(rest.slice(40));
    call.end();
    const text = await settled(world, late.text());

    expect(eventsOf(text).map(({ sequence_number: n }) => n)).toEqual([5, 6, 7, 8, 9, 10]);
    expect(text).toContain(": keep-alive\n\n");
    expect(call.aborted).toBe(false);
  });

  it("are accepted by the client's own helper, live and replayed, also behind an event", async () => {
    const world = await site();
    const live = world.client.responses.stream(STREAM);
    const seen: number[] = [];
    live.on("event", ({ sequence_number: n }) => void seen.push(n));
    (await nextCall(world)).answer(engineEvents(["hel", "lo"]).join(""), 200, SSE);
    const made = await world.wait(live.finalResponse());
    const again = world.client.responses.stream({ response_id: made.id, starting_after: 5 });
    const after: number[] = [];
    again.on("event", ({ sequence_number: n }) => void after.push(n));

    const replayed = await world.wait(again.finalResponse());

    expect(made).toMatchObject({ status: "completed", output_text: "hello" });
    expect(seen).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    expect(replayed.id).toBe(made.id);
    expect(replayed.output_text).toBe("hello");
    expect(after).toEqual([6, 7, 8, 9, 10]);
  });

  it("end with response.failed when the job fails", async () => {
    const world = await site();
    const made = await settled(world, post(world, STREAM, { path: "/v1/responses" }));
    (await nextCall(world)).answer('{"error":{"message":"too long"}}', 400);
    const text = await settled(world, made.text());
    const id = eventsOf(text)[0]?.response?.id ?? "";

    expect(eventsOf(text).at(-1)).toMatchObject({
      type: "response.failed",
      sequence_number: 2,
      response: { status: "failed", error: { code: "invalid_prompt", message: "too long" } },
    });
    expect(await read(world, id)).toBe(text);
    expect(eventsOf(await read(world, id, "&starting_after=7"))).toMatchObject([{ sequence_number: 8 }]);
  });

  it("just end when it is cancelled", async () => {
    const world = await site();
    const made = await settled(world, post(world, STREAM, { path: "/v1/responses" }));
    const call = await nextCall(world);
    void call.head(200, SSE).send(engineEvents(["hel"]).slice(0, 3).join(""));
    await quiet(world);
    const [job] = ((await (await settled(world, get(world, "/v1/jobs"))).json()) as { data: { id: string }[] }).data;
    await world.wait(world.client.responses.cancel(job?.id.replace("job_", "resp_") ?? ""));

    expect(eventsOf(await settled(world, made.text())).map(({ type }) => type)).toEqual([
      ...["response.created", "response.queued", "response.in_progress", "response.output_item.added"],
    ]);
  });

  it("are there in short when the engine answers without a stream", async () => {
    const world = await site();
    const made = await settled(world, post(world, STREAM, { path: "/v1/responses" }));
    (await nextCall(world)).answer(engineResponse());

    const events = eventsOf(await settled(world, made.text()));

    expect(events.map(({ type }) => type)).toEqual(["response.created", "response.queued", "response.completed"]);
  });

  it("are refused for a response that was not made as a stream, and behind what is no number", async () => {
    const world = await site();
    const { id } = await world.wait(world.client.responses.create(INPUT));

    const plain = await settled(world, get(world, `/v1/responses/${id}?stream=true`));
    const odd = await settled(world, get(world, `/v1/responses/${id}?stream=true&starting_after=x`));

    expect([plain.status, odd.status]).toEqual([400, 400]);
    expect([await plain.json(), await odd.json()]).toMatchObject([
      { error: { code: "invalid_query", param: "stream" } },
      { error: { code: "invalid_query", param: "starting_after" } },
    ]);
  });
});

describe("an attempt that is given up while somebody follows", () => {
  it("ends the stream with an error, the job is run again, and its events begin anew", async () => {
    const world = await site();
    const made = await settled(world, post(world, STREAM, { path: "/v1/responses" }));
    const first = await nextCall(world);
    void first.head(200, SSE).send(engineEvents(["old"]).slice(0, 5).join(""));
    await quiet(world);
    first.end({ kind: "lost", detail: "the engine is gone" });
    const second = await nextCall(world);
    void second.head(200, SSE).send(engineEvents(["new"]).join(""));
    second.end();
    const events = eventsOf(await settled(world, made.text()));
    const id = events[0]?.response?.id ?? "";
    const behind = await settled(world, get(world, `/v1/responses/${id}?stream=true&starting_after=4`));

    expect(events.at(-1)).toMatchObject({ type: "error", code: "server_error", sequence_number: 6, param: null });
    expect(behind.status).toBe(400);
    expect(await behind.json()).toMatchObject({ error: { code: "invalid_query", param: "starting_after" } });
    const whole = eventsOf(await read(world, id));
    expect(whole.map(({ sequence_number: n }) => n)).toEqual(whole.map((_, i) => i));
    expect(whole.flatMap(({ delta }) => delta ?? [])).toEqual(["new"]);
  });

  it("goes unnoticed while only what every attempt shares was given out", async () => {
    const world = await site();
    const made = await settled(world, post(world, STREAM, { path: "/v1/responses" }));
    (await nextCall(world)).end({ kind: "lost", detail: "the engine is gone" });
    (await nextCall(world)).answer(engineEvents(["new"]).join(""), 200, SSE);

    const events = eventsOf(await settled(world, made.text()));

    expect(events.at(-1)?.type).toBe("response.completed");
    expect(events.map(({ sequence_number: n }) => n)).toEqual(events.map((_, i) => i));
  });

  it("by the death of the router: the next one runs it, and the stream is whole again", async () => {
    const before = await site();
    const made = await settled(before, post(before, STREAM, { path: "/v1/responses" }));
    const first = await nextCall(before);
    void first.head(200, SSE).send(engineEvents(["old"]).slice(0, 5).join(""));
    await quiet(before);
    void made.body?.cancel();

    const after = await site({ database: before.database, clock: before.clock });
    (await nextCall(after)).answer(engineEvents(["new"]).join(""), 200, SSE);
    await quiet(after);
    const [job] = ((await (await settled(after, get(after, "/v1/jobs"))).json()) as { data: { id: string }[] }).data;
    const id = job?.id.replace("job_", "resp_") ?? "";

    expect((await settled(after, get(after, `/v1/responses/${id}?stream=true&starting_after=4`))).status).toBe(400);
    expect(eventsOf(await read(after, id)).flatMap(({ delta }) => delta ?? [])).toEqual(["new"]);
  });

  it("by a router that goes down ends the stream with an error, and not the job", async () => {
    const world = await site();
    const made = await settled(world, post(world, STREAM, { path: "/v1/responses" }));
    const call = await nextCall(world);
    world.closing.drain();

    const events = eventsOf(await settled(world, made.text()));

    expect(events.map(({ type }) => type)).toEqual(["response.created", "response.queued", "error"]);
    expect(call.aborted).toBe(false);
  });
});
