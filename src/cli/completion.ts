// `sir completion`: the script that teaches a shell to complete `sir`.

import { defineSirCommand, UsageError } from "./command.ts";
import { SCRIPTS } from "./completion-scripts.ts";
import { EXIT } from "./exit-codes.ts";
import { verbOf } from "./verb.ts";

const SHELLS = ["bash", "zsh", "fish", "powershell"] as const;

export const completion = defineSirCommand({
  name: "completion",
  summary: "Print a script that completes commands, flags, models, jobs and decisions in a shell.",
  examples: [
    ["source <(sir completion bash)", "in ~/.bashrc; for zsh in ~/.zshrc"],
    ["sir completion fish > ~/.config/fish/completions/sir.fish", "once"],
    [
      "sir completion powershell | Out-String | Invoke-Expression",
      "in $PROFILE; written by its documentation, not tried",
    ],
  ],
  args: { shell: { type: "positional", required: false, description: `One of ${SHELLS.join(", ")}.` } },
  run: async (args, io) => {
    if (typeof args["shell"] !== "string") throw new UsageError(`For which shell? ${SHELLS.join(", ")}.`);
    const shell = verbOf("completion", args["shell"], SHELLS);
    if (args["json"] === true) io.out(JSON.stringify({ shell, script: SCRIPTS[shell] }));
    else io.write(SCRIPTS[shell]);
    return EXIT.done;
  },
});
