// llama.cpp's server in router mode, as tools/server/README.md describes it and server-models.cpp answers: a load is
// answered at once and followed by its status, and a request with `autoload=false` loads nothing.

import { FakeServer, json } from "./fake-server.ts";

export class FakeLlamaServer extends FakeServer {
  readonly exitCodes = new Map<string, number>();
  readonly sleeping = new Set<string>();
  autoload = true;
  maxInstances = 4;
  /** False: it serves one model of its own. */
  router = true;

  /** Its process ends by itself. */
  exit(name: string, code: number): void {
    this.exitCodes.set(name, code);
    const model = this.model(name);
    if (model !== undefined) Object.assign(model, { loaded: false, loading: false });
  }
}

const refusal = (message: string, code = 400) => ({ error: { code, message, type: "invalid_request_error" } });

export async function fakeLlamaServer(...names: string[]): Promise<FakeLlamaServer> {
  const fake = new FakeLlamaServer(names);
  return fake.listen(async (asked, response) => {
    const url = new URL(asked.path, fake.origin);
    if (url.pathname === "/models") return json(response, 200, { object: "list", data: listed(fake) });
    if (url.pathname === "/props") {
      return json(response, 200, { role: "router", models_autoload: fake.autoload, max_instances: fake.maxInstances });
    }
    const name = String(asked.body["model"]);
    const model = fake.model(name);
    const running = model !== undefined && (model.loaded || model.loading || model.lingering > 0);
    if (url.pathname === "/models/load") {
      if (model === undefined) return json(response, 404, refusal("File Not Found", 404));
      if (running) return json(response, 400, refusal("model is already running"));
      fake.exitCodes.delete(name);
      void fake.load(name).then((ok) => {
        if (!ok && fake.knobs.failLoads !== null) fake.exit(name, Number(fake.knobs.failLoads));
      });
      return json(response, 200, { success: true });
    }
    if (url.pathname === "/models/unload") {
      if (!running) return json(response, 400, refusal("model is not running"));
      fake.unload(name);
      return json(response, 200, { success: true });
    }
    if (model === undefined) return json(response, 400, refusal(`model '${name}' not found`));
    if (!running && url.searchParams.get("autoload") === "false")
      return json(response, 400, refusal("model is not loaded"));
    if (!running) await fake.load(name);
    fake.sleeping.delete(name);
    return fake.infer(asked, response);
  });
}

function listed(fake: FakeLlamaServer): object[] {
  const shown = new Map(fake.shown());
  return [...fake.models.keys()].map((name) => {
    if (!fake.router) return { id: name, object: "model" };
    const model = shown.get(name);
    const exitCode = fake.exitCodes.get(name) ?? 0;
    const up = fake.sleeping.has(name) ? "sleeping" : "loaded";
    const value = model === undefined ? "unloaded" : model.loading ? "loading" : up;
    const failed = value === "unloaded" && exitCode !== 0 ? { failed: true, exit_code: exitCode } : {};
    return { id: name, object: "model", aliases: [`${name}-alias`], status: { value, args: [], ...failed } };
  });
}
