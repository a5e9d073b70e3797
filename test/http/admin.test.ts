// Operators' routes: what they do, and that nobody else reaches them.

import { Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import { completed, type Given, given, MODEL, quiet, settled } from "./given.ts";

const LOCAL = { host: "127.0.0.1:8000" };

function operator(
  world: Given,
  method: string,
  path: string,
  headers: Record<string, string> = LOCAL,
  peer = "127.0.0.1",
  json?: object,
) {
  const bytes = json === undefined ? [] : [Buffer.from(JSON.stringify(json))];
  const incoming = Object.assign(Readable.from(bytes), { socket: { remoteAddress: peer }, complete: true });
  const answer = world.app.request(path, { method, headers }, { incoming } as never);
  return settled(world, Promise.resolve(answer));
}

describe("a verb", () => {
  it("loads and unloads a model whose name has a slash", async () => {
    const world = await given();

    const loaded = await operator(world, "POST", "/admin/models/org%2Falpha:q4/load");
    await quiet(world);
    const unloaded = await operator(world, "POST", "/admin/models/org/alpha:q4/unload?force=true");
    await quiet(world);

    expect([loaded.status, unloaded.status]).toEqual([200, 200]);
    expect(await loaded.json()).toMatchObject({ id: MODEL });
    expect(world.engine.status().models[0]?.state).toBe("absent");
  });

  it("pins, unpins, pauses, resumes and drains", async () => {
    const world = await given();
    await completed(world);

    expect(await (await operator(world, "POST", "/admin/models/chat/pin")).json()).toMatchObject({ pinned: true });
    expect(await (await operator(world, "POST", "/admin/models/chat/unpin")).json()).toMatchObject({ pinned: false });
    expect(await (await operator(world, "POST", "/admin/pause")).json()).toMatchObject({ paused: true });
    expect(await (await operator(world, "POST", "/admin/resume")).json()).toMatchObject({ paused: false });
    expect(await (await operator(world, "POST", "/admin/drain")).json()).toMatchObject({ draining: true });
  });

  it("pauses one device with a note, and says who did", async () => {
    const world = await given();
    const path = "/admin/pause?device=gpu0";

    const paused = await operator(world, "POST", path, LOCAL, "127.0.0.1", { note: " a new fan " });
    const resumed = await operator(world, "POST", "/admin/resume?device=gpu0");

    expect(await paused.json()).toMatchObject({
      paused: false,
      pause: null,
      devices: [{ paused: true, pause: { scope: "device", subject: "gpu0", who: "local", note: "a new fan" } }],
    });
    expect(await resumed.json()).toMatchObject({ devices: [{ paused: false, pause: null }] });
  });

  it.each([
    ["a device that is none", "/admin/pause?device=gpu9", {}, "invalid_query"],
    ["another parameter", "/admin/pause?devices=gpu0", {}, "invalid_query"],
    ["a note that is too long", "/admin/pause", { note: "x".repeat(301) }, "invalid_body"],
    ["a note with a line end", "/admin/pause", { note: "x\ny" }, "invalid_body"],
    ["another field", "/admin/pause", { reason: "x" }, "invalid_body"],
  ])("refuses %s", async (_what, path, body, code) => {
    const world = await given();

    const response = await operator(world, "POST", path, LOCAL, "127.0.0.1", body);

    expect([response.status, ((await response.json()) as { error: { code: string } }).error.code]).toEqual([400, code]);
    expect(world.engine.status().paused).toBe(false);
  });

  it("shows an engine's log", async () => {
    const world = await given();

    const response = await operator(world, "GET", "/admin/models/chat/logs?lines=1");

    expect(await response.json()).toEqual({ object: "logs", model: MODEL, lines: ["ready"] });
    expect((await operator(world, "GET", "/admin/models/chat/logs?lines=0")).status).toBe(400);
  });

  it("knows models by name only", async () => {
    const world = await given();

    expect((await operator(world, "POST", "/admin/models/nope/load")).status).toBe(404);
    expect((await operator(world, "POST", "/admin/models/chat/unload?force=yes")).status).toBe(400);
  });
});

describe("a stranger", () => {
  it.each([
    ["on another machine", LOCAL, "192.168.1.7"],
    ["on another machine who claims to be here", { ...LOCAL, "x-forwarded-for": "127.0.0.1" }, "10.0.0.2"],
    ["on another machine by IPv6", LOCAL, "2001:db8::1"],
    ["with an address that only looks local", LOCAL, "127.0.0.1.evil.example"],
    ["behind a proxy of this machine", { ...LOCAL, "x-forwarded-for": "203.0.113.9" }, "127.0.0.1"],
    ["in a web page", { ...LOCAL, origin: "http://localhost:8000" }, "127.0.0.1"],
    ["in a web page whose name was rebound", { host: "evil.example:8000" }, "127.0.0.1"],
    ["who names no host", {}, "127.0.0.1"],
  ])("%s is refused everywhere", async (_who, headers, peer) => {
    const world = await given();
    for (const verb of ["load", "unload", "pin", "unpin", "drain"]) {
      const response = await operator(world, "POST", `/admin/models/chat/${verb}`, headers as never, peer);
      expect(response.status).toBe(403);
      expect(await response.json()).toMatchObject({ error: { code: "admin_not_allowed", type: "permission_error" } });
    }
    for (const verb of ["pause", "resume", "drain"]) {
      expect((await operator(world, "POST", `/admin/${verb}`, headers as never, peer)).status).toBe(403);
    }
    expect((await operator(world, "GET", "/admin/models/chat/logs", headers as never, peer)).status).toBe(403);
    expect(world.engine.status()).toMatchObject({ paused: false, draining: false });
  });

  it("without a socket is one too", async () => {
    const world = await given();

    expect((await settled(world, Promise.resolve(world.app.request("/admin/pause", { method: "POST" })))).status).toBe(
      403,
    );
  });
});

it.each(["localhost:8000", "127.0.0.1:8000", "[::1]:8000"])("the router's own page at %s is let in", async (host) => {
  const world = await given();

  expect((await operator(world, "POST", "/admin/pause", { host, origin: `http://${host}` })).status).toBe(200);
  expect((await operator(world, "POST", "/admin/pause", { host, origin: `https://${host}` })).status).toBe(403);
});

it.each(["127.0.0.1", "127.8.9.1", "::1", "::ffff:127.0.0.1"])("%s is this machine", async (peer) => {
  const world = await given();

  expect((await operator(world, "POST", "/admin/pause", { host: "localhost" }, peer)).status).toBe(200);
});
