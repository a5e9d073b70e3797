// Starts the thread of one replay and hears it out.

import { Worker } from "node:worker_threads";
import type { ReplayNews, ReplayOrder, ReplayResult } from "./replay-thread.ts";

/** 200,000 jobs take some 260 MiB twice over; beyond this the thread ends, not the router. */
const OLD_GENERATION_MIB = 1_536;
const YOUNG_GENERATION_MIB = 64;

export interface ReplayRun {
  /** Never rejects. */
  readonly ended: Promise<{ readonly result: ReplayResult } | { readonly failure: string }>;
  /** Ends it at once; resolves when the thread is gone. */
  stop(): Promise<void>;
}

export function startReplayThread(order: ReplayOrder, onProgress: (share: number) => void): ReplayRun {
  const worker = new Worker(script(), {
    workerData: order,
    resourceLimits: { maxOldGenerationSizeMb: OLD_GENERATION_MIB, maxYoungGenerationSizeMb: YOUNG_GENERATION_MIB },
  });
  const ended = new Promise<Awaited<ReplayRun["ended"]>>((resolve) => {
    worker.on("message", (news: ReplayNews) => {
      if ("progress" in news) onProgress(news.progress);
      else resolve(news);
    });
    worker.on("error", (error: Error & { code?: string }) => resolve({ failure: failureText(error) }));
    worker.on("exit", () => resolve({ failure: "The replay's thread ended without a word." }));
  });
  return { ended, stop: async () => void (await worker.terminate()) };
}

function failureText({ code, message }: Error & { code?: string }): string {
  if (code !== "ERR_WORKER_OUT_OF_MEMORY") return message;
  return "The replay needed more memory than it may have; choose a shorter time.";
}

/** Beside this file: built code, or source by way of a loader that reads it. */
function script(): URL {
  const built = import.meta.url.endsWith(".js");
  return new URL(built ? "./replay-thread.js" : "./replay-thread-from-source.mjs", import.meta.url);
}
