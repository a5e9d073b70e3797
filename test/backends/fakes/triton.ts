// Triton in explicit model control with its OpenAI frontend, as docs/protocol/extension_model_repository.md describes it:
// a load blocks and fails with 400 and a text, an unload answers before the model is gone.

import { FakeServer, json, plain } from "./fake-server.ts";

export class FakeTriton extends FakeServer {
  /** Of models that were loaded once. */
  readonly reasons = new Map<string, string>();
}

export async function fakeTriton(...names: string[]): Promise<FakeTriton> {
  const fake = new FakeTriton(names);
  return fake.listen(async (asked, response) => {
    const { path, body } = asked;
    if (path === "/v2/repository/index") return json(response, 200, index(fake));
    const [, name = "", verb] = /^\/v2\/repository\/models\/([^/]+)\/(load|unload)$/.exec(path) ?? [];
    const wanted = decodeURIComponent(name);
    if (verb === "load") {
      if (fake.model(wanted) === undefined) {
        return json(response, 400, { error: `failed to load '${wanted}', failed to poll from model repository` });
      }
      fake.reasons.delete(wanted);
      if (await fake.load(wanted)) return plain(response, 200, "");
      const why = fake.knobs.failLoads;
      fake.reasons.set(wanted, why ?? "unloaded");
      return json(response, 400, { error: `failed to load '${wanted}', ${why ?? "unloaded meanwhile"}` });
    }
    if (verb === "unload") {
      fake.reasons.set(wanted, "unloaded");
      fake.unload(wanted);
      return plain(response, 200, "");
    }
    const model = fake.model(body["model"]);
    if (model?.loaded !== true) return json(response, 404, { detail: `Unknown model: ${String(body["model"])}` });
    return fake.infer(asked, response);
  });
}

function index(fake: FakeTriton): object[] {
  const shown = new Map(fake.shown());
  return [...fake.models.keys()].map((name) => {
    const model = shown.get(name);
    if (model === undefined) {
      const reason = fake.reasons.get(name);
      return reason === undefined ? { name } : { name, version: "1", state: "UNAVAILABLE", reason };
    }
    const state = model.loading ? "LOADING" : model.loaded ? "READY" : "UNLOADING";
    return { name, version: "1", state, reason: "" };
  });
}
