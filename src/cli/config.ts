// `sir config schema`: the configuration as JSON Schema, for editors.

import { defineSirCommand, UsageError } from "./command.ts";
import { EXIT } from "./exit-codes.ts";

export const config = defineSirCommand({
  name: "config",
  summary: "Print the JSON Schema of the configuration: every key with its unit, default and meaning.",
  examples: [
    ["sir config schema > sir.schema.json", "for editors and for generating sir.config.json"],
    ["sir doctor", "shows the values that are in force instead"],
  ],
  args: { what: { type: "positional", description: "schema", required: true } },
  run: async ({ what }, io) => {
    if (what !== "schema") throw new UsageError(`\`sir config\` prints only its schema; "${what}" is not known.`);
    const { configJsonSchema } = await import("../config/json-schema.ts");
    io.out(JSON.stringify(configJsonSchema(), null, 2));
    return EXIT.done;
  },
});
