// What devices did and how long queues were, as charts read it.

import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { SeriesWire, SpanRow, TimelineWire } from "../../src/client/wire-live.ts";
import type { CallerId } from "../../src/domain/ids.ts";
import { Keyring } from "../../src/http/keyring.ts";
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

describe("pauses in the timeline", () => {
  const hash = (key: string): string => createHash("sha256").update(key).digest("hex");
  const keys = new Keyring([
    { name: "oda" as CallerId, sha256: hash("oda-key"), scopes: ["submit", "operate"] },
    { name: "eve" as CallerId, sha256: hash("eve-key"), scopes: ["observe"] },
    { name: "ann" as CallerId, sha256: hash("ann-key"), scopes: ["submit"] },
  ]);

  it("are the router's and each device's, by whom and why, as far as the key may know", async () => {
    const world = await given({ deps: { keys } });
    const act = (path: string, note?: string): Promise<Response> => {
      const headers = { authorization: "Bearer oda-key", "content-type": "application/json" };
      const body = note === undefined ? "{}" : JSON.stringify({ note });
      return settled(world, Promise.resolve(world.app.request(path, { method: "POST", headers, body })));
    };
    await act("/admin/pause?device=gpu0", "a new fan");
    await passes(world, 5_000);
    await act("/admin/pause");
    await passes(world, 2_000);
    expect((await act("/admin/resume?device=gpu0")).status).toBe(200);
    await passes(world, 1_000);
    const seen = async (name: string, query = ""): Promise<TimelineWire["pauses"]> => {
      const asked = get(world, `/v1/timeline${query}`, { authorization: `Bearer ${name}-key` });
      return ((await (await settled(world, asked)).json()) as TimelineWire).pauses;
    };

    const all = await seen("eve");
    const own = await seen("ann", "?device=gpu0");

    expect(all.map(([from, to, ...rest]) => [to === null ? null : to - from, ...rest])).toEqual([
      [7_000, "gpu0", "oda", "a new fan"],
      [null, null, "oda", null],
    ]);
    expect(own.map(([, , ...rest]) => rest)).toEqual([
      ["gpu0", "an operator", "a new fan"],
      [null, "an operator", null],
    ]);
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
