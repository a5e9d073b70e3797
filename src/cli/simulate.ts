// `sir simulate`: the shipped scenarios in virtual time, through the very engine that serves.

import { closest } from "../config/closest.ts";
import { isPreset, PRESET_NAMES, runPreset } from "../simulator/presets.ts";
import { defineSirCommand, UsageError } from "./command.ts";
import { EXIT } from "./exit-codes.ts";

export const simulate = defineSirCommand({
  name: "simulate",
  summary: "Run a scenario through the scheduler in virtual time and print waits, swaps and loads.",
  examples: [
    ["sir simulate essay", "two models, one device: the founding rule, and the live rule beside it"],
    ["sir simulate collation --json", "A A B A C C B A under every policy, as JSON"],
  ],
  args: { scenario: { type: "positional", required: true, description: `One of ${PRESET_NAMES.join(", ")}.` } },
  run: async ({ scenario, json }, io) => {
    const name = String(scenario);
    if (!isPreset(name)) {
      const near = closest(name, PRESET_NAMES);
      const hint = near === null ? `Known: ${PRESET_NAMES.join(", ")}.` : `Did you mean "${near}"?`;
      throw new UsageError(`There is no scenario "${name}". ${hint}`);
    }
    const { text, reports } = await runPreset(name);
    io.out(json === true ? JSON.stringify({ object: "list", data: reports }) : text.trimEnd());
    return EXIT.done;
  },
});
