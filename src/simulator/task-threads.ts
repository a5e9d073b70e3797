// Threads that run tasks of a comparison, each with its own engine and clock.

import { Worker } from "node:worker_threads";
import type { Score } from "./score.ts";
import type { Task } from "./task.ts";

/** More room for what dies young: a run makes little else. */
const YOUNG_GENERATION_MIB = 64;

export type Answer = { readonly score: Score } | { readonly failure: string };

interface Waiter {
  readonly resolve: (score: Score) => void;
  readonly reject: (error: Error) => void;
}

class TaskThread {
  readonly #worker: Worker;
  #waiter: Waiter | null = null;

  constructor() {
    this.#worker = new Worker(script(), { resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MIB } });
    this.#worker.on("message", (answer: Answer) => {
      if ("score" in answer) this.#waiter?.resolve(answer.score);
      else this.#waiter?.reject(new Error(answer.failure));
      this.#waiter = null;
    });
    this.#worker.on("error", (error) =>
      this.#waiter?.reject(error instanceof Error ? error : new Error(String(error))),
    );
  }

  run(task: Task): Promise<Score> {
    return new Promise((resolve, reject) => {
      this.#waiter = { resolve, reject };
      this.#worker.postMessage(task);
    });
  }

  async close(): Promise<void> {
    await this.#worker.terminate();
  }
}

/** As many tasks at once as there are threads; the caller starts no more. */
export class TaskThreads {
  readonly #idle: TaskThread[];
  readonly #all: readonly TaskThread[];

  constructor(size: number) {
    this.#all = Array.from({ length: size }, () => new TaskThread());
    this.#idle = [...this.#all];
  }

  get size(): number {
    return this.#all.length;
  }

  async run(task: Task): Promise<Score> {
    const thread = this.#idle.pop();
    if (thread === undefined) throw new Error("more tasks at once than threads");
    try {
      return await thread.run(task);
    } finally {
      this.#idle.push(thread);
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.#all.map((thread) => thread.close()));
  }
}

/** Beside this file: built code, or source by way of a loader that reads it. */
function script(): URL {
  const built = import.meta.url.endsWith(".js");
  return new URL(built ? "./task-thread.js" : "./task-thread-from-source.mjs", import.meta.url);
}
