// Ollama as its docs/api.md describes it, and as server/routes.go and sched.go of 0.17.4 do it where the page is silent:
// a request loads what it names, an unload is answered before the runner is gone, and `/v1` knows no keep_alive.

import { type Asked, FakeServer, Gate, json } from "./fake-server.ts";

const FOR_EVER = "2318-01-01T00:00:00Z";

export class FakeOllama extends FakeServer {
  /** Of each model's 1000 bytes, so many are on the GPU. */
  sizeVram = 1000;
  embedsOnly = false;
  /** A renewed promise, which may be a reload, waits until this is open. */
  readonly renewals = new Gate();
  readonly expiresAt = new Map<string, string>();
  contextLength = 4096;
  /** Names whose weights are those of another name: that one's runner serves both, and is the one that is listed. */
  readonly sameWeights = new Map<string, string>();
}

export async function fakeOllama(...names: string[]): Promise<FakeOllama> {
  const fake = new FakeOllama(names);
  return fake.listen(async (asked, response) => {
    const { body, path } = asked;
    if (path === "/api/ps") return json(response, 200, { models: fake.shown().map(([name]) => shown(fake, name)) });
    const wanted = String(body["model"]).replace(/:latest$/, "");
    const model = fake.model(wanted);
    if (model === undefined) return json(response, 404, { error: `model '${wanted}' not found` });
    if (path === "/api/generate" && fake.embedsOnly && body["keep_alive"] !== 0) {
      return json(response, 400, { error: `"${wanted}" does not support generate` });
    }
    if (path === "/api/generate" && body["keep_alive"] === 0) {
      fake.unload(wanted);
      return json(response, 200, { model: wanted, done: true, done_reason: "unload" });
    }
    if (model.loaded && body["keep_alive"] === -1) await fake.renewals.pass();
    const runner = fake.sameWeights.get(wanted) ?? wanted;
    if (fake.model(runner)?.loaded !== true && !(await fake.load(runner))) {
      return json(response, 500, { error: fake.knobs.failLoads ?? "llama runner process has terminated" });
    }
    if (path.startsWith("/api/")) return json(response, 200, kept(fake, wanted, asked));
    return fake.infer(asked, response);
  });
}

function kept(fake: FakeOllama, name: string, { body, path }: Asked): object {
  if (body["keep_alive"] === -1) fake.expiresAt.set(name, FOR_EVER);
  return path === "/api/embed" ? { model: name, embeddings: [] } : { model: name, done: true, done_reason: "load" };
}

function shown(fake: FakeOllama, name: string): object {
  return {
    name: name.includes(":") ? name : `${name}:latest`,
    size: 1000,
    size_vram: fake.sizeVram,
    context_length: fake.contextLength,
    expires_at: fake.expiresAt.get(name) ?? new Date(Date.now() + 300_000).toISOString(),
  };
}
