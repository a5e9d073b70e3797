// LM Studio: its own list, with instances that are loaded (0.4 and later) or a state for each model (before).

import { type FoundModel, toGiB } from "../found.ts";
import { listAt, numberAt, textAt } from "../json-reading.ts";
import { type EngineProbe, modelNamed } from "./probe.ts";

export const lmstudio: EngineProbe = {
  kind: "lmstudio",
  ports: [1_234],
  async look(site) {
    const [now, before] = await Promise.all([site.json("/api/v1/models"), site.json("/api/v0/models")]);
    const listed = (listAt(now, "models") ?? []).filter((each) => listAt(each, "loaded_instances") !== undefined);
    if (listed.length > 0) {
      const notes = ["turn just-in-time loading and auto-evict off in it: they load behind a scheduler's back"];
      const models = listed.flatMap((each) => modelOf(each) ?? []);
      return { ...{ kind: "lmstudio", origin: site.origin, version: null }, models, loads: true, slots: null, notes };
    }
    const old = (listAt(before, "data") ?? []).filter((each) => textAt(each, "state") !== null);
    if (old.length === 0) return null;
    const models = old.flatMap((each) => modelNamed(textAt(each, "id") ?? "")).filter(({ name }) => name !== "");
    const notes = ["older than 0.4: it cannot be told to load, and is used as it stands"];
    return { ...{ kind: "lmstudio", origin: site.origin, version: null }, models, loads: false, slots: null, notes };
  },
};

function modelOf(listed: unknown): FoundModel | null {
  const name = textAt(listed, "key");
  if (name === null) return null;
  const sizeBytes = numberAt(listed, "size_bytes");
  return { ...modelNamed(name), weightsGiB: sizeBytes === null ? null : toGiB(sizeBytes) };
}
