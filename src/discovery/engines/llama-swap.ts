// llama-swap: `/running` with a list. Its own configuration file is looked for in its command line, for an import.

import { listAt } from "../json-reading.ts";
import { commandLines, flagValue, type Surroundings } from "../surroundings.ts";
import { type EngineProbe, modelNamed, openAiModels } from "./probe.ts";

export const llamaSwap: EngineProbe = {
  kind: "llama-swap",
  ports: [8_080],
  async look(site, surroundings) {
    const [running, listed] = await Promise.all([site.json("/running"), openAiModels(site)]);
    if (listAt(running, "running") === undefined) return null;
    const file = configFile(surroundings);
    const notes = [`sir import llama-swap ${file ?? "FILE"} takes over its configuration`];
    const models = (listed ?? []).map(({ id }) => modelNamed(id));
    return { ...{ kind: "llama-swap", origin: site.origin, version: null }, models, loads: true, slots: null, notes };
  },
};

function configFile(surroundings: Surroundings): string | null {
  const words = commandLines(surroundings).find(([program = ""]) => /(^|\/)llama-swap$/.test(program));
  return flagValue(words ?? [], ["--config", "-config"]);
}
