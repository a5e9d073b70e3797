// TabbyAPI: a model that it owns, at `/v1/model` or in its list.

import { textAt } from "../json-reading.ts";
import { type EngineProbe, modelNamed, modelsOwnedBy } from "./probe.ts";

export const tabbyapi: EngineProbe = {
  kind: "tabbyapi",
  ports: [5_000],
  async look(site) {
    const [listed, current] = await Promise.all([modelsOwnedBy(site, "tabbyapi"), site.json("/v1/model")]);
    const loaded = textAt(current, "owned_by")?.toLowerCase() === "tabbyapi" ? textAt(current, "id") : null;
    if (listed === null && loaded === null) return null;
    // It serves one at a time, whatever else lies in its folder.
    const names = loaded === null ? (listed ?? []).map(({ id }) => id) : [loaded];
    const models = names.map(modelNamed);
    return {
      ...{ kind: "tabbyapi", origin: site.origin, version: null },
      models,
      loads: false,
      slots: null,
      notes: [],
    };
  },
};
