// The lmstudio driver: models of one LM Studio server (0.4 or later), loaded and unloaded through its own REST API.
// An unload names an instance and not a model; a second load of a model would be a second instance of it.

import { z } from "zod";
import { defineDriver, LoadError } from "./backend.ts";
import { type Dialect, type Listed, listIn, memberOf, numberOf, refusalOf, textOf } from "./model-server/dialect.ts";
import { ModelServer } from "./model-server/model-server.ts";
import { originOf, serverFields } from "./model-server/options.ts";

const ASK_MS = 5_000;
const UNLOAD_MS = 30_000;

const lmstudioOptions = z.strictObject({
  ...serverFields("http://127.0.0.1:1234"),
  contextLength: z
    .int()
    .min(1)
    .optional()
    .describe("Context of the loaded model, in tokens. Absent: LM Studio's choice."),
  evalBatchSize: z.int().min(1).optional().describe("Prompt tokens worked on at once. Absent: LM Studio's choice."),
  flashAttention: z.boolean().optional().describe("Flash attention on or off. Absent: LM Studio's choice."),
  offloadKvCacheToGpu: z.boolean().optional().describe("The KV cache on the GPU. Absent: LM Studio's choice."),
  numExperts: z
    .int()
    .min(1)
    .optional()
    .describe("Experts used by a mixture-of-experts model. Absent: LM Studio's choice."),
});

type LmstudioOptions = z.output<typeof lmstudioOptions>;

export const lmstudio = defineDriver({
  name: "lmstudio",
  options: lmstudioOptions,
  usesDevice: true,
  shareKey: (_model, options: LmstudioOptions) => originOf(options),
  create: (members, context) => new ModelServer(dialect, members, context),
});

const dialect: Dialect<LmstudioOptions> = {
  server: "LM Studio",
  loadsOnUnseen: true,

  async list(http, signal) {
    const answer = await http.ask({ method: "GET", path: "/api/v1/models", limitMs: ASK_MS, signal });
    if (answer.status === 404) throw new LoadError(`${http.origin} has no /api/v1: LM Studio 0.4 or later is needed`);
    return listIn("LM Studio", answer, "models").map(listed);
  },

  async load({ http, name, member, signal }, found) {
    const { contextLength } = member.options;
    const fits = contextLength === undefined || found.shape === `context ${contextLength}`;
    if (found.state === "ready" && fits && found.ids?.length === 1) return;
    if (found.state === "ready") await unloadAll(http, name, found.ids ?? [], signal);
    const ask = { method: "POST", path: "/api/v1/models/load", limitMs: null, signal } as const;
    const answer = await http.ask({
      ...ask,
      body: { model: name, ...settingsOf(member.options), echo_load_config: true },
    });
    if (answer.status === 200 && textOf(answer.json, "instance_id") !== "") return;
    throw new LoadError(refusalOf("LM Studio", `load ${name}`, answer));
  },

  unload: ({ http, name, signal }, { ids }) => unloadAll(http, name, ids ?? [], signal),

  disowns: (status, text) => (status === 400 || status === 404) && /not loaded|no models? loaded/i.test(text),

  advise: async () => [
    "Turn LM Studio's just-in-time loading and Auto-Evict off (they cannot be seen from here): with them on, a request from elsewhere loads and unloads models behind the router.",
  ],
};

async function unloadAll(
  http: Parameters<Dialect<LmstudioOptions>["list"]>[0],
  name: string,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  for (const id of ids) {
    const ask = { method: "POST", path: "/api/v1/models/unload", limitMs: UNLOAD_MS, signal } as const;
    const answer = await http.ask({ ...ask, body: { instance_id: id } });
    if (answer.status !== 200 && answer.status !== 404) {
      throw new LoadError(refusalOf("LM Studio", `unload ${name}`, answer));
    }
  }
}

function settingsOf(options: LmstudioOptions): Record<string, number | boolean | undefined> {
  return {
    context_length: options.contextLength,
    eval_batch_size: options.evalBatchSize,
    flash_attention: options.flashAttention,
    offload_kv_cache_to_gpu: options.offloadKvCacheToGpu,
    num_experts: options.numExperts,
  };
}

function listed(model: unknown): Listed {
  const name = textOf(model, "key");
  const instances = memberOf(model, "loaded_instances");
  const loaded: readonly unknown[] = Array.isArray(instances) ? instances : [];
  const context = numberOf(memberOf(loaded[0], "config"), "context_length");
  return {
    name,
    state: loaded.length === 0 ? "absent" : "ready",
    ids: loaded.map((each) => textOf(each, "id")),
    ...(context === null ? {} : { shape: `context ${context}` }),
  };
}
