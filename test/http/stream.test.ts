// The live stream: the whole state first, what changed after it, and nothing for anybody who lags.

import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { DeltaWire, JobRowList } from "../../src/client/wire-live.ts";
import type { StatusWire } from "../../src/client/wire-status.ts";
import type { CallerId, ModelName } from "../../src/domain/ids.ts";
import { Keyring } from "../../src/http/keyring.ts";
import { ANSWER, ASK, type Given, get, given, nextCall, passes, settled, submitted } from "./given.ts";
import { type Told, watching } from "./watching.ts";

const deltasOf = (events: readonly Told[]): DeltaWire[] =>
  events.flatMap((each) => (each.event === "delta" ? [each.data] : []));

describe("a reader of the live stream", () => {
  it("is shown the whole state first, as /v1/status says it", async () => {
    const world = await given();

    const reader = await watching(world);

    const status = (await (await settled(world, get(world, "/v1/status"))).json()) as StatusWire;
    expect(reader.response.headers.get("content-type")).toMatch(/^text\/event-stream/);
    expect(reader.response.headers.get("x-accel-buffering")).toBe("no");
    expect(reader.response.headers.get("cache-control")).toBe("no-store");
    const [first] = reader.events;
    expect(first).toMatchObject({ event: "snapshot", id: `${status.boot}.${status.seq}` });
    expect(first?.data).toEqual({ ...status, at: expect.any(Number) });
  });

  it("sees a job's life, and the model and the device change with it", async () => {
    const world = await given();
    const reader = await watching(world);

    const { id } = await submitted(world);
    const call = await nextCall(world);
    await passes(world, 500);
    call.answer(ANSWER);
    await passes(world, 500);

    const deltas = deltasOf(reader.events);
    const seen = deltas.flatMap(({ jobs }) => jobs.filter((job) => job.id === id).map(({ status }) => status));
    expect(seen.at(0)).toBe("in_progress");
    expect(seen.at(-1)).toBe("completed");
    const told = deltas.flatMap(({ jobs }) => jobs);
    expect(told[0]).toMatchObject({ band: "normal", caller: "local", parts: null });
    const page = (await (await settled(world, get(world, "/v1/jobs?view=rows"))).json()) as JobRowList;
    expect(told.at(-1)?.parts).toEqual(page.data[0]?.parts.map(({ cause, ms }) => [cause, ms]));
    expect(told.at(-1)?.parts).toContainEqual(["running", expect.any(Number)]);
    expect(deltas.some(({ models }) => models.some(({ running }) => running === 1))).toBe(true);
    expect(deltas.at(-1)?.models.at(-1)?.running ?? 0).toBe(0);
    expect(deltas.flatMap(({ decisions }) => decisions).length).toBeGreaterThan(0);
    expect(deltas.flatMap(({ moves }) => moves)[0]?.load).toBe("org/alpha:q4");
    expect(deltas.map(({ seq }) => seq)).toEqual(deltas.map((_, index) => (deltas[0]?.seq ?? 0) + index));
  });

  it("gets one frame each quarter of a second at most, whatever happens, and none while nothing does", async () => {
    const world = await given();
    const reader = await watching(world);
    await passes(world, 2_000);
    const before = reader.events.length;

    for (let i = 0; i < 40; i++) await submitted(world);
    await passes(world, 1_000);
    const during = deltasOf(reader.events);
    await passes(world, 10_000);

    expect(before).toBe(1);
    expect(during.length).toBeLessThanOrEqual(6);
    expect(deltasOf(reader.events).length).toBeLessThanOrEqual(during.length + 1);
  });
});

const secret = (name: string): string => `sir_${name}-0123456789`;
const as = (name: string): Record<string, string> => ({ authorization: `Bearer ${secret(name)}` });
const KEYS = { ann: ["submit"], bob: ["submit"], eve: ["observe"] } as const;

async function guarded(): Promise<Given> {
  const keys = Object.entries(KEYS).map(([name, scopes]) => ({
    ...{ name: name as CallerId, scopes },
    sha256: createHash("sha256").update(secret(name)).digest("hex"),
  }));
  return given({ deps: { keys: new Keyring(keys) } });
}

describe("a reader with a key", () => {
  it("sees no other caller's job in any part of the stream, and an observer sees all", async () => {
    const world = await guarded();
    const [ann, bob, eve] = [
      await watching(world, as("ann")),
      await watching(world, as("bob")),
      await watching(world, as("eve")),
    ];

    const { id: busy } = await submitted(world, as("ann"));
    const call = await nextCall(world);
    const { id } = await submitted(world, as("ann"), { ...ASK, model: "beta" });
    await passes(world, 500);
    // Comes while the decision that names the job is in force: the snapshot has it too.
    const late = await watching(world, as("bob"));
    call.answer(ANSWER);
    await passes(world, 1_000);

    const moved = deltasOf(bob.events).flatMap(({ moves }) => moves);
    expect(moved[0]?.load).toBe("org/alpha:q4");
    const inForce = deltasOf(eve.events).flatMap(({ devices }) =>
      devices.flatMap(({ decision }) => decision?.jobs ?? []),
    );
    expect(inForce).toContain(id);
    for (const text of [bob.text, late.text]) expect(text).not.toContain(busy);
    expect(ann.text).toContain(id);
    expect(eve.text).toContain(id);
    const callersOf = (reader: typeof ann): unknown[] =>
      deltasOf(reader.events).flatMap(({ jobs }) => jobs.map(({ caller }) => caller));
    expect(new Set(callersOf(ann))).toEqual(new Set([null]));
    expect(new Set(callersOf(eve))).toEqual(new Set(["ann"]));
    expect(bob.text).not.toContain(id);
    expect(late.text).not.toContain(id);
  });
});

describe("the stream's end", () => {
  it("is said when the router goes down, and nobody is let in after that", async () => {
    const world = await given();
    const reader = await watching(world);

    world.closing.drain();
    await passes(world, 10);
    const late = await settled(world, get(world, "/v1/stream"));

    expect(reader.events.at(-1)?.event).toBe("bye");
    expect(reader.done).toBe(true);
    expect(late.status).toBe(503);
  });

  it("comes for nobody but who asked too late: the sixty-fifth is told when to come back", async () => {
    const world = await given();
    const readers = [];
    for (let i = 0; i < 64; i++) readers.push(await watching(world));

    const refused = await settled(world, get(world, "/v1/stream"));
    readers[0]?.leave();
    await passes(world, 10);
    const welcome = await settled(world, get(world, "/v1/stream"));

    expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "30"]);
    expect(((await refused.json()) as { error: { code: string } }).error.code).toBe("too_many_streams");
    expect(welcome.status).toBe(200);
  });

  it("is no error to those who resume: they get what they missed", async () => {
    const world = await given();
    await watching(world);
    const away = await watching(world);
    await submitted(world);
    await passes(world, 500);
    const last = away.events.at(-1)?.id ?? "";
    away.leave();
    (await nextCall(world)).answer(ANSWER);
    await passes(world, 500);

    const back = await watching(world, { "last-event-id": last });

    expect(back.events[0]?.event).toBe("delta");
    expect(deltasOf(back.events).flatMap(({ jobs }) => jobs.map(({ status }) => status))).toContain("completed");
  });

  it("leaves nobody with a state that was undone before a frame told of it", async () => {
    const world = await given();
    const first = await watching(world);
    // Makes a frame, so that the next is not due before both have happened.
    await submitted(world);
    await passes(world, 20);
    await world.engine.operator.pin("beta" as ModelName);
    // Sees the pin before any frame tells it; then it is taken back.
    const second = await watching(world);
    await world.engine.operator.unpin("beta" as ModelName);
    await passes(world, 3_000);

    for (const reader of [first, second]) {
      const told = reader.events.flatMap((each) => (each.event === "bye" ? [] : each.data.models));
      expect(told.findLast(({ id }) => id === "beta")?.pinned).toBe(false);
    }
  });
});
