// SGLang: a list of models that it owns, and `/server_info` for what it was started with (`/get_server_info` before 0.5.7).

import { numberAt, textAt } from "../json-reading.ts";
import { type EngineProbe, modelNamed, modelsOwnedBy } from "./probe.ts";

export const sglang: EngineProbe = {
  kind: "sglang",
  ports: [30_000],
  async look(site) {
    const listed = await modelsOwnedBy(site, "sglang");
    if (listed === null) return null;
    const info = (await site.json("/server_info")) ?? (await site.json("/get_server_info"));
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
