// llama-swap as its README and internal/server describe it: a request starts what it names and stops what its rules do
// not let run beside, `/running` lists what is not stopped, and an unload is answered when the process has ended.

import { FakeServer, json, plain } from "./fake-server.ts";

export class FakeLlamaSwap extends FakeServer {
  ttl = 0;
  /** False: a version that can only unload everything. */
  unloadsOne = true;
  log = "[INFO] llama-swap listening\n";

  /** One model at a time: what is started stops the others, as by another client's request. */
  swapTo(name: string): void {
    for (const each of this.models.keys()) this.set(each, each === name);
  }
}

export async function fakeLlamaSwap(...names: string[]): Promise<FakeLlamaSwap> {
  const fake = new FakeLlamaSwap(names);
  return fake.listen(async (asked, response) => {
    const { path, method, body } = asked;
    if (path === "/running") return json(response, 200, { running: running(fake) });
    if (path === "/logs") return plain(response, 200, fake.log);
    if (path === "/unload" && method === "GET") {
      for (const name of fake.models.keys()) fake.unload(name);
      return plain(response, 200, "OK");
    }
    if (path.startsWith("/api/models/unload/")) {
      if (!fake.unloadsOne) return plain(response, 404, "404 page not found\n");
      const name = decodeURIComponent(path.slice("/api/models/unload/".length));
      if (fake.model(name) === undefined) return json(response, 404, { error: { message: "model not found" } });
      fake.unload(name);
      return plain(response, 200, "OK");
    }
    const upstream = path.startsWith("/upstream/") ? decodeURIComponent(path.slice("/upstream/".length)) : null;
    const name = upstream === null ? String(body["model"]) : nameIn(fake, upstream);
    const model = fake.model(name);
    if (model === undefined) return json(response, 404, { error: { message: "model not found" } });
    if (!model.loaded) {
      const ok = await fake.load(name);
      if (!ok)
        return json(response, 500, { error: { message: `unspecific error: ${fake.knobs.failLoads ?? "stopped"}` } });
      fake.swapTo(name);
    }
    return upstream === null ? fake.infer(asked, response) : plain(response, 200, "OK");
  });
}

function nameIn(fake: FakeLlamaSwap, path: string): string {
  return [...fake.models.keys()].find((name) => path === name || path.startsWith(`${name}/`)) ?? "";
}

function running(fake: FakeLlamaSwap): object[] {
  return fake.shown().map(([model, { loading, loaded }]) => {
    const state = loading ? "starting" : loaded ? "ready" : "stopping";
    return { model, state, cmd: "x", proxy: "http://127.0.0.1:1", ttl: fake.ttl, name: "", description: "" };
  });
}
