// The operators' route to the job log, and that a command reads the same through it as from the file.

import { describe, expect, it } from "vitest";
import { remoteHistory } from "../../src/cli/remote-history.ts";
import { completed, type Given, given, settled } from "./given.ts";

const LOCAL = { host: "127.0.0.1:8000" };
const ALL = { fromMs: 0, toMs: Number.MAX_SAFE_INTEGER };

function ask(world: Given, path: string, peer = "127.0.0.1"): Promise<Response> {
  const incoming = { socket: { remoteAddress: peer } };
  return settled(world, Promise.resolve(world.app.request(path, { headers: LOCAL }, { incoming } as never)));
}

describe("GET /admin/history", () => {
  it("gives through a command's reader what the store gives", async () => {
    const world = await given();
    for (let i = 0; i < 3; i++) await completed(world);
    world.store.append([{ type: "setup", atMs: 5, setup: { models: { "org/some_model": { loadSeconds: 1 } } } }]);
    await settled(world, world.store.ping());
    const remote = remoteHistory({ url: "", ask: async (_method, path) => (await ask(world, path)).json() });
    const { history } = world.store;

    const first = await remote.jobs({ ...ALL, after: null, limit: 2 });
    const second = await remote.jobs({ ...ALL, after: first.next, limit: 2 });

    expect([...first.data, ...second.data]).toEqual((await history.jobs({ ...ALL, after: null, limit: 10 })).data);
    expect(second.data).toHaveLength(1);
    const page = { ...ALL, after: null, limit: 50 };
    expect((await remote.loads(page)).data).toEqual((await history.loads(page)).data);
    expect((await remote.loads(page)).data).toHaveLength(1);
    expect((await remote.moves(page)).data).toEqual((await history.moves(page)).data);
    expect(await remote.setups(ALL)).toEqual([
      { atMs: 5, setup: { models: { "org/some_model": { loadSeconds: 1 } } } },
    ]);
    expect(await remote.span()).toEqual(await history.span());
    expect(await remote.tunings(1)).toEqual([]);
  });

  it("is for operators, and reads its query strictly", async () => {
    const world = await given();

    expect((await ask(world, "/admin/history/jobs", "10.0.0.9")).status).toBe(403);
    for (const path of ["jobs?limit=0", "jobs?limit=5000", "jobs?from_ms=monday", "jobs?since=1", "bodies"])
      expect((await ask(world, `/admin/history/${path}`)).status).toBe(400);
  });
});
