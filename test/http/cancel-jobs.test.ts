// Cancelling many jobs with one request: what becomes of each is told, and nobody cancels what is not theirs.

import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { CancelList } from "../../src/client/wire-live.ts";
import type { CallerId } from "../../src/domain/ids.ts";
import { Keyring } from "../../src/http/keyring.ts";
import { ASK, ASYNC, CHAT, completed, type Given, given, nextCall, settled, submitted } from "./given.ts";

const KEYS = {
  ann: ["submit"],
  bob: ["submit"],
  eve: ["observe"],
  sue: ["submit", "observe"],
  oda: ["operate"],
} as const;
type Name = keyof typeof KEYS;

const keyring = new Keyring(
  Object.entries(KEYS).map(([name, scopes]) => ({
    name: name as CallerId,
    sha256: createHash("sha256").update(`sir_${name}-0123456789`).digest("hex"),
    scopes,
  })),
);

function send(world: Given, path: string, body: unknown, name?: Name, more: Record<string, string> = {}) {
  const key = name === undefined ? {} : { authorization: `Bearer sir_${name}-0123456789` };
  const headers = { "content-type": "application/json", ...key, ...more };
  const sent = typeof body === "string" ? body : JSON.stringify(body);
  return settled(world, Promise.resolve(world.app.request(path, { method: "POST", headers, body: sent })));
}

async function cancel(world: Given, ids: readonly string[], name?: Name): Promise<CancelList> {
  const response = await send(world, "/v1/jobs/cancel", { ids }, name);
  expect(response.status).toBe(200);
  return (await response.json()) as CancelList;
}

const outcomes = ({ data }: CancelList) => data.map(({ outcome, status }) => [outcome, status]);

describe("many jobs cancelled at once", () => {
  it("are each told of, in the order of their ids: what ran, what waited, what was over, what never was", async () => {
    const world = await given();
    const over = await completed(world);
    const runs = (await submitted(world)).id;
    const call = await nextCall(world);
    const waits = (await submitted(world, {}, { ...ASK, model: "beta" })).id;
    const unknown = `job_${"0".repeat(32)}`;

    const list = await cancel(world, [runs, over, unknown, waits, "nonsense", runs]);

    expect(list.data.map(({ id }) => id)).toEqual([runs, over, unknown, waits, "nonsense"]);
    expect(outcomes(list)).toEqual([
      ["cancelled", "cancelled"],
      ["already_over", "completed"],
      ["not_found", null],
      ["cancelled", "cancelled"],
      ["not_found", null],
    ]);
    expect([list.first_id, list.last_id, list.has_more]).toEqual([runs, "nonsense", false]);
    expect(call.aborted).toBe(true);
    expect(outcomes(await cancel(world, [runs, waits]))).toEqual([
      ["already_over", "cancelled"],
      ["already_over", "cancelled"],
    ]);
  });

  it.each([
    ["an empty list", { ids: [] }, "invalid_body"],
    ["a hundred and one", { ids: Array.from({ length: 101 }, (_, n) => `job_${n}`) }, "invalid_body"],
    ["filters instead of ids", { status: "queued" }, "invalid_body"],
    ["no JSON", "all of them", "invalid_json"],
  ])("are refused as %s, and nothing is cancelled", async (_what, body, code) => {
    const world = await given();
    const { id } = await submitted(world);

    const response = await send(world, "/v1/jobs/cancel", body);

    expect([response.status, ((await response.json()) as { error: { code: string } }).error.code]).toEqual([400, code]);
    expect((await world.store.job(id as never))?.state.status).not.toBe("cancelled");
  });

  it("are a caller's own only; an operator's are anybody's, and say so; an observer's are none", async () => {
    const world = await given({ deps: { keys: keyring } });
    const submit = async (name: Name): Promise<string> =>
      ((await (await send(world, CHAT, ASK, name, ASYNC)).json()) as { id: string }).id;
    const [anns, bobs] = [await submit("ann"), await submit("bob")];

    expect(outcomes(await cancel(world, [anns], "bob"))).toEqual([["not_found", null]]);
    expect(outcomes(await cancel(world, [anns], "sue"))).toEqual([["not_allowed", expect.any(String)]]);
    expect((await send(world, "/v1/jobs/cancel", { ids: [anns] }, "eve")).status).toBe(403);
    expect((await world.store.job(anns as never))?.state.status).not.toBe("cancelled");
    expect(outcomes(await cancel(world, [anns, bobs], "bob"))).toEqual([
      ["not_found", null],
      ["cancelled", "cancelled"],
    ]);
    expect(outcomes(await cancel(world, [anns], "oda"))).toEqual([["cancelled", "cancelled"]]);
    const reasonOf = async (id: string) => (await world.store.job(id as never))?.state;
    expect(await reasonOf(bobs)).toMatchObject({ status: "cancelled", reason: "client" });
    expect(await reasonOf(anns)).toMatchObject({ status: "cancelled", reason: "admin" });
  });
});
