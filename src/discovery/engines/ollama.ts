// Ollama: `/api/version` and a list of tags. Sizes come from the tags, what is loaded from `/api/ps`, the cache for one
// conversation from the model's own shape.

import { type FoundCache, type FoundEngine, type FoundModel, toGiB } from "../found.ts";
import { listAt, member, numberAt, textAt } from "../json-reading.ts";
import type { Site } from "../site.ts";
import type { Surroundings } from "../surroundings.ts";
import type { EngineProbe } from "./probe.ts";

/** Two bytes for each of a key and a value. */
const CACHE_BYTES = 2 * 2;
const MOST_DESCRIBED = 64;

export const ollama: EngineProbe = {
  kind: "ollama",
  ports: [11_434],
  async look(site, surroundings) {
    const [version, tags] = await Promise.all([site.json("/api/version"), site.json("/api/tags")]);
    const listed = listAt(tags, "models");
    if (textAt(version, "version") === null || listed === undefined) return null;
    const running = listAt(await site.json("/api/ps"), "models") ?? [];
    const tokens = Number(surroundings.environment["OLLAMA_CONTEXT_LENGTH"]) || null;
    const models = await Promise.all(
      listed.map(async (tag, at) => {
        const model = modelOf(tag, running);
        if (model === null || model.unfit !== null || at >= MOST_DESCRIBED) return model;
        return { ...model, cache: await cacheOf(site, model.name, tokens) };
      }),
    );
    const slots = Number(surroundings.environment["OLLAMA_NUM_PARALLEL"]) || null;
    return engineOf(
      site,
      textAt(version, "version"),
      models.filter((each) => each !== null),
      slots,
      running,
    );
  },
};

function engineOf(
  { origin }: Site,
  version: string | null,
  models: readonly FoundModel[],
  slots: number | null,
  running: readonly unknown[],
): FoundEngine {
  const spilled = running.filter((each) => (numberAt(each, "size_vram") ?? 0) < (numberAt(each, "size") ?? 0));
  const notes = spilled.map((each) => `${textAt(each, "name")} lies partly in CPU memory`);
  return { kind: "ollama", origin, version, models, loads: true, slots, notes };
}

function modelOf(tag: unknown, running: readonly unknown[]): FoundModel | null {
  const name = textAt(tag, "name");
  if (name === null) return null;
  const loaded = running.find((each) => textAt(each, "name") === name);
  const loadedBytes = numberAt(loaded, "size");
  const sizeBytes = numberAt(tag, "size");
  const elsewhere = textAt(tag, "remote_host") !== null || textAt(tag, "remote_model") !== null;
  return {
    name,
    weightsGiB: sizeBytes === null || elsewhere ? null : toGiB(sizeBytes),
    cache: null,
    loadedGiB: loadedBytes === null || loadedBytes === 0 ? null : toGiB(loadedBytes),
    unfit: elsewhere ? "it runs in Ollama's cloud, not on this machine" : null,
  };
}

/** From `/api/show`, which describes and loads nothing. A model's own `num_ctx` stands above the server's setting. */
async function cacheOf(site: Site, model: string, serverTokens: number | null): Promise<FoundCache | null> {
  const shown = await site.described("/api/show", { model });
  const info = member(shown, "model_info");
  const family = textAt(info, "general.architecture");
  if (family === null) return null;
  const of = (key: string): number | null => numberAt(info, `${family}.${key}`);
  const layers = of("block_count");
  const heads = of("attention.head_count");
  const width = of("attention.key_length") ?? widthOf(of("embedding_length"), heads);
  const keyHeads = of("attention.head_count_kv") ?? heads;
  if (layers === null || keyHeads === null || width === null) return null;
  // Where there is a window, every second layer at most looks at more than it.
  const deep = of("attention.sliding_window") === null ? layers : Math.ceil(layers / 2);
  const own = Number(/^num_ctx\s+(\d+)/m.exec(textAt(shown, "parameters") ?? "")?.[1]) || null;
  const bytesPerToken = deep * keyHeads * width * CACHE_BYTES;
  return { bytesPerToken, tokens: own ?? serverTokens, mostTokens: of("context_length") };
}

function widthOf(embedding: number | null, heads: number | null): number | null {
  return embedding === null || heads === null || heads === 0 ? null : embedding / heads;
}

/** `OLLAMA_HOST` as Ollama reads it, as an address that can be connected to; null when it is not set. */
export function ollamaHost({ environment }: Surroundings): string | null {
  const given = (environment["OLLAMA_HOST"] ?? "").trim();
  if (given === "") return null;
  const scheme = /^https?:\/\//.exec(given)?.[0] ?? "http://";
  const rest = given.slice(given.startsWith(scheme) ? scheme.length : 0).replace(/\/.*$/, "");
  const [, host = "", port = ""] = /^(\[[^\]]*\]|[^:]*)(?::(\d+))?$/.exec(rest) ?? [];
  const reachable = host === "" || host === "0.0.0.0" || host === "[::]" ? "127.0.0.1" : host;
  const origin = `${scheme}${reachable}:${port === "" ? "11434" : port}`;
  return URL.canParse(origin) ? new URL(origin).origin : null;
}
