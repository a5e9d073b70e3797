// LocalAI: `/system` names its backends. It speaks Ollama's API too, so it is looked for before Ollama.

import { listAt } from "../json-reading.ts";
import { type EngineProbe, modelNamed, openAiModels } from "./probe.ts";

export const localai: EngineProbe = {
  kind: "localai",
  ports: [8_080],
  async look(site) {
    const [system, listed] = await Promise.all([site.json("/system"), openAiModels(site)]);
    if (listAt(system, "backends") === undefined) return null;
    const loaded = listAt(system, "loaded_models") ?? [];
    const notes = loaded.length === 0 ? [] : [`${loaded.length} loaded`];
    const models = (listed ?? []).map(({ id }) => modelNamed(id));
    return { ...{ kind: "localai", origin: site.origin, version: null }, models, loads: false, slots: null, notes };
  },
};
