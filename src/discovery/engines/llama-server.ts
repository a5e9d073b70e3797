// llama.cpp's server: models that it owns, `/props` for slots and context. In router mode its list carries a status for
// each model, and it can be told to load and unload.

import { listAt, member, numberAt, textAt } from "../json-reading.ts";
import { type EngineProbe, modelNamed, modelsOwnedBy } from "./probe.ts";

export const llamaServer: EngineProbe = {
  kind: "llama-server",
  ports: [8_080, 8_081],
  async look(site) {
    const [owned, props, routed] = await Promise.all([
      modelsOwnedBy(site, "llamacpp"),
      site.json("/props"),
      site.json("/models?autoload=false"),
    ]);
    const listed = listAt(routed, "data") ?? [];
    const router = listed.length > 0 && listed.every((each) => textAt(each, "status", "value") !== null);
    if (owned === null && !(router && textAt(listed[0], "owned_by") === "llamacpp")) return null;
    const names = router ? listed.flatMap((each) => textAt(each, "id") ?? []) : (owned ?? []).map(({ id }) => id);
    const context = numberAt(props, "default_generation_settings", "n_ctx");
    const version = textAt(props, "build_info");
    const notes = router ? ["router mode"] : context === null || context === 0 ? [] : [`context ${context}`];
    const slots = router ? null : numberAt(member(props), "total_slots");
    const models = names.map(modelNamed);
    return { ...{ kind: "llama-server", origin: site.origin, version }, models, loads: router, slots, notes };
  },
};
