// LM Studio's REST API v1 as its documentation describes it (developer docs, 2_rest): a load blocks and makes an
// instance, a second load makes a second one, an unload names an instance. What is being loaded is not listed.

import { FakeServer, json } from "./fake-server.ts";

export class FakeLmstudio extends FakeServer {
  /** Instance ids by model. */
  readonly instances = new Map<string, string[]>();
  contextLength = 4096;
  /** False: a version before 0.4. */
  v1 = true;
  token: string | null = null;

  override set(name: string, loaded: boolean): void {
    super.set(name, loaded);
    this.instances.set(name, loaded ? [...(this.instances.get(name) ?? []), this.#nextId(name)] : []);
  }

  #nextId(name: string): string {
    const count = this.instances.get(name)?.length ?? 0;
    return count === 0 ? name : `${name}:${count + 1}`;
  }
}

const refusal = (message: string) => ({ error: { type: "invalid_request", message } });

export async function fakeLmstudio(...names: string[]): Promise<FakeLmstudio> {
  const fake = new FakeLmstudio(names);
  return fake.listen(async (asked, response, request) => {
    const { path, body } = asked;
    if (fake.token !== null && request.headers.authorization !== `Bearer ${fake.token}`) {
      return json(response, 401, { error: { type: "invalid_request", message: "An LM Studio API token is required" } });
    }
    if (!fake.v1 && path.startsWith("/api/v1")) return json(response, 404, { error: `Unexpected endpoint ${path}` });
    if (path === "/api/v1/models") return json(response, 200, { models: listed(fake) });
    if (path === "/api/v1/models/unload") {
      const id = String(body["instance_id"]);
      const [name] = [...fake.instances].find(([, ids]) => ids.includes(id)) ?? [];
      if (name === undefined) return json(response, 404, refusal(`No instance ${id} is loaded`));
      if (!fake.knobs.ignoreUnloads) {
        const left = (fake.instances.get(name) ?? []).filter((each) => each !== id);
        fake.instances.set(name, left);
        if (left.length === 0) fake.unload(name);
      }
      return json(response, 200, { instance_id: id });
    }
    const name = String(body["model"]);
    const model = fake.model(name);
    if (model === undefined) return json(response, 404, refusal(`Model ${name} is not found`));
    if (path === "/api/v1/models/load") {
      if (!(await fake.load(name))) return json(response, 500, refusal(fake.knobs.failLoads ?? "ended"));
      if (typeof body["context_length"] === "number") fake.contextLength = body["context_length"];
      fake.set(name, true);
      const id = fake.instances.get(name)?.at(-1);
      return json(response, 200, { type: "llm", instance_id: id, load_time_seconds: 0.1, status: "loaded" });
    }
    if (!model.loaded) return json(response, 400, refusal(`Model ${name} is not loaded`));
    return fake.infer(asked, response);
  });
}

function listed(fake: FakeLmstudio): object[] {
  const shown = new Map(fake.shown());
  return [...fake.models.keys()].map((key) => {
    const ids = fake.instances.get(key) ?? [];
    const lingering = shown.has(key) && shown.get(key)?.loading === false ? [key] : [];
    const config = { context_length: fake.contextLength };
    const loaded_instances = (ids.length > 0 ? ids : lingering).map((id) => ({ id, config }));
    return { type: "llm", key, display_name: key, loaded_instances };
  });
}
