// What devices did and how long queues were, as charts read it.

import { describe, expect, it } from "vitest";
import type { SeriesWire, SpanRow, TimelineWire } from "../../src/client/wire-live.ts";
import { ANSWER, ASK, type Given, get, given, nextCall, passes, settled, submitted } from "./given.ts";

const timeline = async (world: Given, query = ""): Promise<TimelineWire> =>
  (await (await settled(world, get(world, `/v1/timeline${query}`))).json()) as TimelineWire;
const phasesOf = (spans: readonly SpanRow[], model: string): string[] =>
  spans.filter(([, name]) => name === model).map(([, , phase]) => phase);

async function served(world: Given, model: string, forMs: number): Promise<void> {
  await submitted(world, {}, { ...ASK, model });
  const call = await nextCall(world);
  await passes(world, forMs);
  call.answer(ANSWER);
  await passes(world, 1);
}

describe("GET /v1/timeline", () => {
  it("shows what a model does and which decision loaded it, up to this moment", async () => {
    const world = await given();
    await served(world, "beta", 5_000);
    await passes(world, 3_000);

    const { spans, moves } = await timeline(world, "?px=10000");

    expect(phasesOf(spans, "beta")).toEqual(["serving", "idle"]);
    expect(moves[0]).toMatchObject({ kind: "load", load: "beta", device: "gpu0" });
    // They touch, and the last goes on.
    expect(spans.map(([, , , , to]) => to)).toEqual([...spans.slice(1).map(([, , , from]) => from), null]);
  });

  it("says what is going on before it is on the disk", async () => {
    const world = await given();
    await submitted(world);
    await nextCall(world);

    const { spans } = await timeline(world, "?px=10000");

    expect(phasesOf(spans, "org/alpha:q4").at(-1)).toBe("serving");
  });

  it("takes no pause shorter than a second for a stretch of its own", async () => {
    const world = await given();
    for (let i = 0; i < 5; i++) {
      await served(world, "beta", 2_000);
      await passes(world, 400);
    }

    const { spans } = await timeline(world, "?px=10000");

    expect(phasesOf(spans, "beta").filter((phase) => phase === "serving")).toHaveLength(1);
  });
});

describe("GET /v1/series", () => {
  it("counts what waited at most in each minute, the running one too", async () => {
    const world = await given();
    for (let i = 0; i < 7; i++) await submitted(world, { "sir-lease": "none" });
    await passes(world, 150_000);

    const answer = (await (await settled(world, get(world, "/v1/series?name=queue_depth"))).json()) as SeriesWire;

    // Four slots.
    expect(answer.normal.slice(-3)).toEqual([3, 3, 3]);
    expect(answer.normal.at(-4)).toBe(0);
    expect(answer.interactive.at(-1)).toBe(0);
    expect(answer.at_ms).toHaveLength(answer.normal.length);
    expect(answer.step_ms).toBe(60_000);
  });
});
