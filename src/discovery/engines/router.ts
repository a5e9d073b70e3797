// A router like this one: a list of models that it owns.

import { type EngineProbe, modelsOwnedBy } from "./probe.ts";

export const router: EngineProbe = {
  kind: "sir",
  ports: [],
  async look(site) {
    const listed = await modelsOwnedBy(site, "sir");
    if (listed === null) return null;
    return { ...{ kind: "sir", origin: site.origin, version: null }, models: [], loads: false, slots: null, notes: [] };
  },
};
