// The process driver: an engine is any command with a health path (vllm serve, llama-server, SGLang, mlx, TabbyAPI). It
// is started with its model and ended with all it started; one that a killed router left is taken over by the next.

import { defineDriver } from "./backend.ts";
import { ProcessBackend } from "./process/backend.ts";
import { ModelEngines } from "./process/model-engines.ts";
import { processOptions } from "./process/options.ts";
import { ProcessHost } from "./process/process-host.ts";

export const processDriver = defineDriver({
  name: "process",
  options: processOptions,
  usesDevice: true,
  shareKey: (model) => model,
  create(members, context) {
    const [member] = members;
    if (member === undefined) throw new Error("a process backend needs a model");
    return new ProcessBackend(new ModelEngines(member, new ProcessHost("process", members, context), context));
  },
});
