// One replay on a thread of its own: it reads the store's file by itself, so that the serving thread neither reads nor
// computes. Progress goes out while it runs, its result once, or the sentence that says why there is none.

import { parentPort, workerData } from "node:worker_threads";
import type { ReplayReport } from "../client/wire-replay.ts";
import type { Range } from "../store/history.ts";
import { openStoreFile } from "../store/sqlite/store-file.ts";
import { distributionOf, type SpanTuple, spansOf, type WaitDistribution } from "./replay-picture.ts";
import { sideBySide, titleOf } from "./side-by-side.ts";
import { readTraffic } from "./traffic.ts";
import type { Change } from "./what-if.ts";

export interface ReplayOrder {
  /** The store's file. */
  readonly path: string;
  readonly range: Range;
  /** Null: the settings that ran, and nothing else. */
  readonly change: Change | null;
  readonly mostJobs: number;
}

export interface ReplayResult {
  readonly report: ReplayReport;
  readonly recordedSpans: readonly SpanTuple[];
  readonly otherSpans: readonly SpanTuple[] | null;
  readonly waits: WaitDistribution;
}

export type ReplayNews =
  | { readonly progress: number }
  | { readonly result: ReplayResult }
  | { readonly failure: string };

async function replayed({ path, range, change, mostJobs }: ReplayOrder): Promise<ReplayResult> {
  const { history, close } = openStoreFile(path);
  try {
    const traffic = await readTraffic(history, range, mostJobs);
    const runs = change === null ? 1 : 2;
    const { report, outcomes } = await sideBySide(traffic, {
      range,
      source: path,
      changes: change === null ? [] : [{ title: titleOf(change), ...change }],
      again: true,
      onProgress: (title, share) => tell({ progress: ((title === "replayed" ? 0 : 1) + share) / runs }),
    });
    const [recorded, again, other = null] = outcomes;
    if (recorded === undefined || again === undefined) throw new Error("a replay without its record");
    return {
      report,
      recordedSpans: spansOf(recorded),
      otherSpans: other === null ? null : spansOf(other),
      waits: distributionOf(again, other),
    };
  } finally {
    close();
  }
}

const tell = (news: ReplayNews): void => parentPort?.postMessage(news);

replayed(workerData as ReplayOrder).then(
  (result) => tell({ result }),
  (error: unknown) => tell({ failure: error instanceof Error ? error.message : String(error) }),
);
