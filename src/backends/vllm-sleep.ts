// The vllm-sleep driver: vLLM engines that stay alive and are switched by sleep and wake instead of a restart. They are
// started as the process driver starts them.

import { defineDriver } from "./backend.ts";
import { ModelEngines } from "./process/model-engines.ts";
import { ProcessHost } from "./process/process-host.ts";
import { SleepBackend } from "./vllm-sleep/backend.ts";
import { vllmSleepOptions } from "./vllm-sleep/options.ts";
import { sleepersOf } from "./vllm-sleep/sleepers.ts";

export const vllmSleep = defineDriver({
  name: "vllm-sleep",
  options: vllmSleepOptions,
  usesDevice: true,
  shareKey: (model) => model,
  create(members, context) {
    const [given] = members;
    if (given === undefined) throw new Error("a sleeping backend needs a model");
    const { spec, options } = given;
    // Without it vLLM has neither /sleep nor /wake_up.
    const member = { spec, options: { ...options, env: { VLLM_SERVER_DEV_MODE: "1", ...options.env } } };
    const host = new ProcessHost("vllm-sleep", [member], context);
    return new SleepBackend(new ModelEngines(member, host, context), sleepersOf(context), options);
  },
});
