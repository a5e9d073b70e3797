// A job's life as events: a full receipt first, each change after it, the end last, and the connection as the lease.

import { expect, it } from "vitest";
import type { Receipt } from "../../src/client/wire.ts";
import {
  ANSWER,
  ASK,
  completed,
  type Given,
  get,
  given,
  nextCall,
  passes,
  quiet,
  settled,
  submitted,
} from "./given.ts";
import { readerOf } from "./stream-reader.ts";

interface Told {
  readonly event: string;
  readonly id: string | undefined;
  readonly data: Receipt;
}

/** As EventSource reads. */
function parse(text: string): Told[] {
  return text
    .split("\n\n")
    .filter((block) => block.includes("data: "))
    .map((block) => {
      const of = (name: string): string[] =>
        block.split("\n").flatMap((line) => (line.startsWith(`${name}: `) ? [line.slice(name.length + 2)] : []));
      return { event: of("event")[0] ?? "", id: of("id")[0], data: JSON.parse(of("data").join("\n")) as Receipt };
    });
}

async function open(world: Given, id: string, headers: Record<string, string> = {}, query = "") {
  return readerOf(await settled(world, get(world, `/v1/jobs/${id}/events${query}`, headers)));
}

it("tells a whole life in order, and ends with the answer", async () => {
  const world = await given();
  const { id: before } = await submitted(world);
  const busy = await nextCall(world);
  const { id } = await submitted(world, {}, { ...ASK, model: "beta" });
  const reader = await open(world, id);
  const tape = reader.record();
  await passes(world, 1_000);
  busy.answer("{}");
  const call = await nextCall(world);
  await quiet(world);
  call.answer(ANSWER);
  await quiet(world);

  const told = parse(tape.text).filter(({ event }) => event !== "position" && event !== "loading");

  expect(before).not.toBe(id);
  expect(told.map(({ event }) => event)).toEqual(["queued", "started", "completed"]);
  expect(told.map(({ data }) => data.status)).toEqual(["queued", "in_progress", "completed"]);
  expect(told[2]?.data.response?.body).toEqual(JSON.parse(ANSWER));
  expect(new Set(told.map((each) => each.id)).size).toBe(3);
  expect(await settled(world, reader.next())).toBe("");
  expect(reader.headers).toMatchObject({
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-store",
  });
});

it("ends at once, with everything, for a job that is over", async () => {
  const world = await given();
  const id = await completed(world);

  const told = parse(await settled(world, (await open(world, id)).all()));

  expect(told).toMatchObject([
    { event: "completed", data: { id, status: "completed", response: { status_code: 200 } } },
  ]);
});

it("tells the place in the queue as it moves", async () => {
  const world = await given();
  await submitted(world);
  const busy = await nextCall(world);
  const { id: ahead } = await submitted(world, {}, { ...ASK, model: "beta" });
  const { id } = await submitted(world, {}, { ...ASK, model: "beta" });
  const tape = (await open(world, id)).record();
  await quiet(world);
  await settled(world, Promise.resolve(world.app.request(`/v1/jobs/${ahead}/cancel`, { method: "POST" })));
  await passes(world, 3_000);

  const told = parse(tape.text);

  expect(busy.aborted).toBe(false);
  expect(told[0]).toMatchObject({ event: "queued", data: { queue: { position: 1 } } });
  expect(told.at(-1)).toMatchObject({ event: "position", id: undefined, data: { queue: { position: 0 } } });
});

it.each([
  ["Last-Event-ID", (id: string) => [{ "last-event-id": id }, ""] as const],
  ["?after=", (id: string) => [{}, `?after=${encodeURIComponent(id)}`] as const],
])("resumes by %s with the present state, and goes on from there", async (_what, resume) => {
  const world = await given();
  const { id } = await submitted(world);
  const call = await nextCall(world);
  const first = await open(world, id);
  const [seen] = parse(await settled(world, first.next()));
  await first.cancel();

  const [headers, query] = resume(seen?.id ?? "");
  const reader = await open(world, id, headers, query);
  const tape = reader.record();
  await quiet(world);
  call.answer(ANSWER);
  await quiet(world);

  const told = parse(tape.text);
  expect(told.map(({ event }) => event)).toEqual(["started", "completed"]);
  expect(told[0]?.id).toBe(seen?.id);
  expect(told[1]?.id).not.toBe(seen?.id);
});

it("says ping when there is nothing to say", async () => {
  const world = await given();
  const { id } = await submitted(world);
  await nextCall(world);
  const tape = (await open(world, id)).record();

  await passes(world, 60_000);

  expect(tape.text.match(/^: ping\n\n/gm)?.length).toBe(4);
});

it("is the caller's lease while it is open, and leaves a full one when it closes", async () => {
  const world = await given();
  const { id } = await submitted(world);
  const call = await nextCall(world);
  const reader = await open(world, id);
  reader.record();
  await passes(world, 600_000);
  expect(call.aborted).toBe(false);

  await reader.cancel();
  await passes(world, 55_000);
  expect(call.aborted).toBe(false);
  await passes(world, 10_000);

  expect(call.aborted).toBe(true);
});

it("does not hold the job for a HEAD", async () => {
  const world = await given();
  const { id } = await submitted(world);
  const call = await nextCall(world);

  const response = await settled(
    world,
    Promise.resolve(world.app.request(`/v1/jobs/${id}/events`, { method: "HEAD" })),
  );
  await passes(world, 65_000);

  expect(response.headers.get("content-type")).toContain("text/event-stream");
  expect(call.aborted).toBe(true);
});

it("ends when the router goes down", async () => {
  const world = await given();
  const { id } = await submitted(world);
  const reader = await open(world, id);
  await settled(world, reader.next());

  world.closing.drain();

  expect(await settled(world, reader.next())).toBe("");
});

it("carries answers with line breaks in them whole", async () => {
  const world = await given();
  const id = await completed(world, '{\n  "a": 1,\r\n  "b": "x"\n}');

  const [told] = parse(await settled(world, (await open(world, id)).all()));

  expect(told?.data.response?.body).toEqual({ a: 1, b: "x" });
});
