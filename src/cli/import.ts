// `sir import llama-swap FILE`: another router's configuration taken over, with an account of every setting in it.

import { defineSirCommand, UsageError } from "./command.ts";

export const importCommand = defineSirCommand({
  name: "import",
  summary: "Take over llama-swap's configuration; says of every setting whether it was carried, changed or left out.",
  examples: [
    ["sir import llama-swap config.yaml", "writes sir.config.ts, and says what is different"],
    ["sir import llama-swap config.yaml --stdout --strict", "prints it; exits 8 when something was left out"],
  ],
  args: {
    from: { type: "positional", description: "llama-swap", required: true },
    file: { type: "positional", description: "its configuration, in YAML", required: true },
    out: { type: "string", valueHint: "FILE", description: "Where to write. Default: sir.config.ts." },
    stdout: { type: "boolean", description: "Print the configuration and write nothing." },
    strict: { type: "boolean", description: "Exit 8 when a setting was left out." },
    force: { type: "boolean", description: "Write over a file that is there." },
  },
  run: async (args, io) => {
    if (args.from !== "llama-swap") {
      throw new UsageError(`Only llama-swap's configuration can be taken over; "${args.from}" is not known.`);
    }
    return (await import("./import-run.ts")).takeOver(args, io);
  },
});
