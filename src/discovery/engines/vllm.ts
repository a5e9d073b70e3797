// vLLM: a list of models that it owns. Its version and whether it can sleep are asked apart.

import { member, numberAt, textAt } from "../json-reading.ts";
import { commandLines, flagValue } from "../surroundings.ts";
import { type EngineProbe, modelNamed, modelsOwnedBy } from "./probe.ts";

export const vllm: EngineProbe = {
  kind: "vllm",
  ports: [8_000, 8_001],
  async look(site, surroundings) {
    const [listed, version, sleeping] = await Promise.all([
      modelsOwnedBy(site, "vllm"),
      site.json("/version"),
      site.json("/is_sleeping"),
    ]);
    if (listed === null) return null;
    const asleep = member(sleeping, "is_sleeping");
    const context = numberAt(listed[0]?.raw, "max_model_len");
    const own = commandLines(surroundings).find((words) => isServer(words, site.port));
    const slots = Number(flagValue(own ?? [], ["--max-num-seqs"])) || null;
    return {
      kind: "vllm",
      origin: site.origin,
      version: textAt(version, "version"),
      models: listed.map(({ id }) => modelNamed(id)),
      loads: false,
      slots,
      notes: [
        typeof asleep === "boolean"
          ? `sleep mode on${asleep ? ", asleep now" : ""}`
          : "sleep mode off, so it gives no GPU memory back while it runs",
        ...(context === null ? [] : [`context ${context}`]),
      ],
    };
  },
};

function isServer(words: readonly string[], port: number): boolean {
  if (!words.some((word) => /(^|\/)vllm$|^vllm\.entrypoints/.test(word))) return false;
  return Number(flagValue(words, ["--port"]) ?? 8_000) === port;
}
