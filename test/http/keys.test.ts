// Keys: who is let in, what each scope may do, and that one caller cannot find another's things.

import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { Scope } from "../../src/domain/caller-key.ts";
import type { CallerId } from "../../src/domain/ids.ts";
import { Keyring } from "../../src/http/keyring.ts";
import { ANSWER, ASK, ASYNC, CHAT, type Given, given, MODEL, nextCall, settled } from "./given.ts";

const KEYS: Readonly<Record<string, readonly Scope[]>> = {
  ann: ["submit"],
  bob: ["submit"],
  eve: ["observe"],
  oda: ["submit", "operate"],
};

const held = (names = Object.keys(KEYS)) =>
  names.map((name) => ({
    name: name as CallerId,
    sha256: createHash("sha256").update(secret(name)).digest("hex"),
    scopes: KEYS[name] ?? [],
  }));

const secret = (name: string): string => `sir_${name}-0123456789`;
const as = (name: string): Record<string, string> => ({ authorization: `Bearer ${secret(name)}` });

async function guarded(): Promise<{ world: Given; keys: Keyring }> {
  const keys = new Keyring(held());
  return { world: await given({ deps: { keys } }), keys };
}

function ask(world: Given, method: string, path: string, headers: Record<string, string> = {}, body?: unknown) {
  const json = body === undefined ? {} : { body: JSON.stringify(body) };
  const sent = { "content-type": "application/json", ...headers };
  return settled(world, Promise.resolve(world.app.request(path, { method, headers: sent, ...json })));
}

async function submitAs(world: Given, name: string, headers: Record<string, string> = {}): Promise<string> {
  const response = await ask(world, "POST", CHAT, { ...as(name), ...ASYNC, ...headers }, ASK);
  return ((await response.json()) as { id: string }).id;
}

const code = async (response: Response): Promise<[number, string]> => [
  response.status,
  ((await response.json()) as { error: { code: string } }).error.code,
];

describe("a request without a valid key", () => {
  it.each([
    ["GET", "/v1/models"],
    ["GET", "/v1/status"],
    ["GET", "/metrics"],
    ["POST", CHAT],
    ["GET", "/v1/jobs"],
    ["POST", "/admin/pause"],
    ["GET", "/nowhere"],
    ["GET", "/dashboardx"],
    ["GET", "/v1/models/%2e%2e/%2e%2e/healthz/x"],
  ])("%s %s is 401 and says how a key is sent", async (method, path) => {
    const { world } = await guarded();
    for (const headers of [
      {},
      { authorization: "Bearer wrong" },
      { authorization: "Basic YTpi" },
      { "x-api-key": "" },
    ]) {
      const response = await ask(world, method, path, headers as Record<string, string>);

      expect(response.headers.get("www-authenticate")).toBe('Bearer realm="sir"');
      expect(await code(response)).toEqual([401, "invalid_api_key"]);
    }
  });

  it("still learns whether the router lives, and what it speaks", async () => {
    const { world } = await guarded();

    for (const path of ["/healthz", "/readyz", "/openapi.json"]) {
      expect((await ask(world, "GET", path)).status).toBe(200);
    }
  });

  it("is told to the log once a minute with how many there were, and never with what came", async () => {
    const { world } = await guarded();
    for (let n = 0; n < 5; n++) await ask(world, "GET", "/v1/models", as("mallory"));
    await world.clock.runUntil(world.clock.nowMs() + 61_000);
    await ask(world, "GET", "/v1/models");

    const denied = world.events.filter(({ type }) => type === "http.denied");

    expect(denied).toHaveLength(6);
    expect(denied.filter((event) => "told" in event && event.told)).toMatchObject([
      { reason: "unknown", silenced: 0 },
      { reason: "missing", silenced: 4 },
    ]);
    expect(JSON.stringify(world.events)).not.toContain("mallory");
  });
});

describe("a valid key", () => {
  it("is taken as a bearer token and as Anthropic's clients send it", async () => {
    const { world } = await guarded();

    expect((await ask(world, "GET", "/v1/models", as("ann"))).status).toBe(200);
    expect((await ask(world, "GET", "/v1/models", { authorization: `bearer  ${secret("ann")}` })).status).toBe(200);
    expect((await ask(world, "GET", "/v1/models", { "x-api-key": secret("ann") })).status).toBe(200);
  });

  it("never reaches the engine", async () => {
    const { world } = await guarded();
    const answer = ask(world, "POST", CHAT, { ...as("ann"), "x-api-key": secret("ann") }, ASK);
    const call = await nextCall(world);

    expect(JSON.stringify(call.call.headers)).not.toContain(secret("ann"));
    call.answer(ANSWER);
    expect((await answer).status).toBe(200);
  });

  it("is refused from the moment it leaves the configuration, and its jobs await its successor", async () => {
    const { world, keys } = await guarded();
    const id = await submitAs(world, "ann");

    keys.replace([
      { name: "ann" as CallerId, sha256: createHash("sha256").update("new").digest("hex"), scopes: ["submit"] },
    ]);

    expect((await ask(world, "GET", `/v1/jobs/${id}`, as("ann"))).status).toBe(401);
    expect((await ask(world, "GET", `/v1/jobs/${id}`, { authorization: "Bearer new" })).status).toBe(200);
  });
});

describe("another caller's job", () => {
  it.each([
    ["GET", ""],
    ["GET", "/result"],
    ["GET", "/events"],
    ["POST", "/cancel"],
    ["DELETE", ""],
  ])("%s …%s is as unknown as one that never was", async (method, rest) => {
    const { world } = await guarded();
    const id = await submitAs(world, "ann");

    const response = await ask(world, method, `/v1/jobs/${id}${rest}`, as("bob"));

    expect(await code(response)).toEqual([404, "job_not_found"]);
  });

  it("is in no list, and no decision names it", async () => {
    const { world } = await guarded();
    const id = await submitAs(world, "ann");
    const text = async (path: string, name: string) => (await ask(world, "GET", path, as(name))).text();

    expect(await text("/v1/jobs", "ann")).toContain(id);
    for (const path of ["/v1/jobs", "/v1/decisions", "/v1/status"]) expect(await text(path, "bob")).not.toContain(id);
    expect(await text("/v1/decisions", "eve")).toContain(id);
    expect(await code(await ask(world, "GET", `/v1/decisions?job=${id}`, as("bob")))).toEqual([404, "job_not_found"]);
  });

  it("is not met by the same idempotency key", async () => {
    const { world } = await guarded();
    const key = { "idempotency-key": "k1" };

    const ids = [
      await submitAs(world, "ann", key),
      await submitAs(world, "bob", key),
      await submitAs(world, "ann", key),
    ];

    expect(ids[1]).not.toBe(ids[0]);
    expect(ids[2]).toBe(ids[0]);
  });
});

describe("another caller's file, batch, hint and response", () => {
  it("are theirs alone", async () => {
    const { world } = await guarded();
    const form = new FormData();
    form.set("purpose", "batch");
    form.set("file", new Blob(["{}\n"]), "lines.jsonl");
    const file = (await (
      await settled(
        world,
        Promise.resolve(world.app.request("/v1/files", { method: "POST", headers: as("ann"), body: form })),
      )
    ).json()) as { id: string };
    const hint = (await (await ask(world, "POST", "/v1/hints", as("ann"), { model: MODEL, in: "90s" })).json()) as {
      id: string;
    };
    const background = (await (
      await ask(world, "POST", "/v1/responses", as("ann"), { model: MODEL, input: "hello", background: true })
    ).json()) as { id: string };

    for (const [path, id] of [
      [`/v1/files/${file.id}`, file.id],
      [`/v1/responses/${background.id}`, background.id],
    ] as const) {
      expect([path, (await ask(world, "GET", path, as("ann"))).status]).toEqual([path, 200]);
      for (const name of ["bob", "oda"]) {
        expect([path, (await ask(world, "GET", path, as(name))).status, id]).toEqual([path, 404, id]);
      }
    }
    expect((await ask(world, "GET", `/v1/files/${file.id}/content`, as("bob"))).status).toBe(404);
    expect((await ask(world, "DELETE", `/v1/files/${file.id}`, as("bob"))).status).toBe(404);
    expect((await ask(world, "POST", `/v1/responses/${background.id}/cancel`, as("bob"))).status).toBe(404);
    expect((await ask(world, "DELETE", `/v1/hints/${hint.id}`, as("bob"))).status).toBe(404);
    expect(await (await ask(world, "GET", "/v1/hints", as("bob"))).text()).not.toContain(hint.id);
    expect(await (await ask(world, "GET", "/v1/files", as("bob"))).text()).not.toContain(file.id);
  });
});

describe("a scope", () => {
  interface Row {
    readonly what: string;
    readonly may: readonly string[];
    readonly body?: object;
  }
  const MAY: readonly Row[] = [
    { what: `POST ${CHAT}`, may: ["ann", "oda"], body: ASK },
    { what: "POST /v1/hints", may: ["ann", "oda"], body: { model: MODEL, in: "90s" } },
    { what: "GET /v1/status", may: ["ann", "eve", "oda"] },
    { what: "GET /v1/decisions", may: ["ann", "eve", "oda"] },
    { what: "GET /admin/history/jobs", may: ["eve", "oda"] },
    { what: "GET /admin/models/chat/logs", may: ["oda"] },
    { what: "POST /admin/models/chat/load", may: ["oda"] },
    { what: "POST /admin/pause", may: ["oda"] },
    { what: "POST /admin/resume", may: ["oda"] },
    { what: "GET /admin/tuning", may: ["oda"] },
  ];

  it.each(MAY)("lets only its own do $what", async ({ what, may, body }) => {
    const { world } = await guarded();
    const [method = "", path = ""] = what.split(" ");
    for (const name of ["ann", "eve", "oda"]) {
      const response = await ask(world, method, path, { ...as(name), ...ASYNC }, body);
      if (may.includes(name)) expect([name, response.status]).toEqual([name, expect.toSatisfy((n: number) => n < 300)]);
      else expect([name, ...(await code(response))]).toEqual([name, 403, "scope_missing"]);
    }
  });

  it("is named when it is missing, with those that the key has", async () => {
    const { world } = await guarded();

    const refused = await ask(world, "POST", "/admin/pause", as("ann"));

    expect(((await refused.json()) as { error: { message: string } }).error.message).toBe(
      'This needs a key with the scope "operate"; this key has submit.',
    );
  });

  it("lets an observer see a job and its end, but not the answer, and keeps no lease alive", async () => {
    const { world } = await guarded();
    const id = await submitAs(world, "ann");
    (await nextCall(world)).answer(ANSWER);
    await world.clock.runUntil(world.clock.nowMs() + 1_000);

    const seen = await ask(world, "GET", `/v1/jobs/${id}`, as("eve"));
    const text = await seen.text();

    expect(JSON.parse(text)).toMatchObject({ id, status: "completed" });
    expect(text).not.toContain("chatcmpl-1");
    expect(await code(await ask(world, "GET", `/v1/jobs/${id}/result`, as("eve")))).toEqual([403, "scope_missing"]);
    expect(await code(await ask(world, "GET", `/v1/jobs/${id}/result`, as("oda")))).toEqual([403, "scope_missing"]);
    expect(await (await ask(world, "GET", `/v1/jobs/${id}`, as("ann"))).text()).toContain("chatcmpl-1");
  });

  it("renews no lease of a job that an observer looks at", async () => {
    const { world } = await guarded();
    const id = await submitAs(world, "ann");
    for (let n = 0; n < 9; n++) {
      await world.clock.runUntil(world.clock.nowMs() + 10_000);
      await ask(world, "GET", `/v1/jobs/${id}`, as("eve"));
    }

    expect(await (await ask(world, "GET", `/v1/jobs/${id}`, as("eve"))).json()).toMatchObject({ status: "cancelled" });
  });

  it("lets an operator cancel anybody's job, and says who did", async () => {
    const { world } = await guarded();
    const id = await submitAs(world, "ann");

    expect(await code(await ask(world, "POST", `/v1/jobs/${id}/cancel`, as("eve")))).toEqual([403, "scope_missing"]);
    expect((await ask(world, "POST", `/v1/jobs/${id}/cancel`, as("oda"))).status).toBe(200);
    expect(await (await ask(world, "GET", `/v1/jobs/${id}`, as("ann"))).json()).toMatchObject({
      status: "cancelled",
      error: { reason: "admin" },
    });
  });

  it("leaves a decision of what an operator did, with a name that only observers see", async () => {
    const { world } = await guarded();
    await submitAs(world, "ann");
    (await nextCall(world)).answer(ANSWER);
    await world.clock.runUntil(world.clock.nowMs() + 1_000);
    await ask(world, "POST", "/admin/models/chat/unload", as("oda"));
    await world.clock.runUntil(world.clock.nowMs() + 1_000);
    const told = async (name: string) => (await ask(world, "GET", "/v1/decisions?kind=unload", as(name))).json();

    expect(await told("eve")).toMatchObject({ data: [{ reason: "operator", asked_by: "oda" }] });
    expect(JSON.stringify(await told("ann"))).toMatch(/"reason":"operator"(?!.*oda)/);
  });
});
