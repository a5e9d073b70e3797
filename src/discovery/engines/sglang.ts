// SGLang: a list of models that it owns, and `/get_server_info` for what it was started with.

import { numberAt, textAt } from "../json-reading.ts";
import { type EngineProbe, modelNamed, modelsOwnedBy } from "./probe.ts";

export const sglang: EngineProbe = {
  kind: "sglang",
  ports: [30_000],
  async look(site) {
    const [listed, info] = await Promise.all([modelsOwnedBy(site, "sglang"), site.json("/get_server_info")]);
    if (listed === null) return null;
    const models = listed.map(({ id }) => modelNamed(id));
    const slots = numberAt(info, "max_running_requests");
    return {
      ...{ kind: "sglang", origin: site.origin, version: textAt(info, "version") },
      models,
      loads: false,
      slots,
      notes: [],
    };
  },
};
