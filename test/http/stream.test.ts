// The live stream: the whole state first, what changed after it, and nothing for anybody who lags.

import { describe, expect, it } from "vitest";
import type { DeltaWire } from "../../src/client/wire-live.ts";
import type { StatusWire } from "../../src/client/wire-status.ts";
import { ANSWER, get, given, nextCall, passes, settled, submitted } from "./given.ts";
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
