// `sir doctor`: everything that is wrong with how to mend it, and the values in force with where each came from.

import { defineSirCommand } from "./command.ts";
import { CONFIG_ARGS } from "./config-args.ts";

export const doctor = defineSirCommand({
  name: "doctor",
  summary: "Check the configuration and everything it names; exits 8 when something must be mended.",
  examples: [
    ["sir doctor", "what is there, and what is wrong with how to mend it"],
    ["sir doctor --defaults", "every value in force as well, and where each came from"],
    ["sir doctor --config /etc/sir/sir.config.ts --json", "the same for a program"],
  ],
  args: {
    defaults: { type: "boolean", description: "List every value in force as well, and where each came from." },
    ...CONFIG_ARGS,
  },
  run: async (args, io) => (await import("./doctor-report.ts")).report(args, io),
});
