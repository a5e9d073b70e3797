// What can be said about a vLLM engine that is put to sleep instead of being ended, with units.

import { z } from "zod";
import { engineFields, portFault } from "../process/options.ts";

/** `vllm`, `/opt/venv/bin/vllm`, `-m vllm.entrypoints.openai.api_server`. */
const VLLM = /(^|\/)vllm$|^vllm\./;
const FLAG = "enable-sleep-mode";

export const vllmSleepOptions = z
  .strictObject({
    ...engineFields,
    level: z
      .union([z.literal(1), z.literal(2)])
      .default(1)
      .describe("Sleep level. 1: weights go to main memory. 2: weights are dropped, and read again on waking."),
    maxAsleep: z
      .int()
      .min(0)
      .max(64)
      .default(2)
      .describe("Engines asleep at once on this machine, over all models; the lowest number given counts. 0: none."),
    sleepTimeoutSeconds: z
      .number()
      .positive()
      .max(45)
      .default(30)
      .describe("How long falling asleep may take, in seconds; then the engine is ended."),
    wakeTimeoutSeconds: z
      .number()
      .positive()
      .max(600)
      .default(60)
      .describe("How long waking may take until a token comes, in seconds; then the engine is restarted."),
  })
  .superRefine((options, issues) => {
    const fault = portFault(options);
    if (fault !== null) issues.addIssue({ code: "custom", path: ["port"], message: fault });
    const { command } = options;
    if (command.some((each) => VLLM.test(each)) && !command.some((each) => each.includes(FLAG))) {
      const message = `starts vLLM without --${FLAG}; without it a sleeping engine keeps all its memory`;
      issues.addIssue({ code: "custom", path: ["command"], message });
    }
  });

export type VllmSleepOptions = z.output<typeof vllmSleepOptions>;
