// `sir doctor`: the values in force with where each came from, and everything that is wrong with how to mend it.

import { defineSirCommand } from "./command.ts";
import { CONFIG_ARGS } from "./config-args.ts";

export const doctor = defineSirCommand({
  name: "doctor",
  summary: "Check the configuration and everything it names; exits 8 when something must be mended.",
  examples: [
    ["sir doctor", "the values in force, where each came from, and what is wrong"],
    ["sir doctor --config /etc/sir/sir.config.ts --json", "the same for a program"],
  ],
  args: CONFIG_ARGS,
  run: async (args, io) => (await import("./doctor-report.ts")).report(args, io),
});
