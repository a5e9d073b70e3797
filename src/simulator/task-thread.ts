// One thread of a comparison: a task comes in, its score goes out.

import { parentPort } from "node:worker_threads";
import { runTask } from "./comparison.ts";
import type { Task } from "./task.ts";
import type { Answer } from "./task-threads.ts";

parentPort?.on("message", (task: Task) => {
  const answer = (answered: Answer): void => parentPort?.postMessage(answered);
  runTask(task).then(
    (score) => answer({ score }),
    (error: unknown) => answer({ failure: error instanceof Error ? error.message : String(error) }),
  );
});
