// What the main thread and the writer's thread say to each other.

import type { JobId } from "../../domain/ids.ts";
import type { Body, Result } from "../store.ts";
import type { CommitReport, Reply, Request } from "./batch.ts";
import type { CoreSettings } from "./core.ts";
import type { Upkeep } from "./host.ts";

export interface WorkerSetup {
  readonly path: string;
  /** Where `file:` URIs lie. */
  readonly directory: string;
  readonly settings: CoreSettings;
  /** Most verbs in one commit. */
  readonly maxBatch: number;
  readonly synchronous: string;
}

export type ToWorker =
  | { readonly type: "requests"; readonly requests: readonly Request[] }
  | { readonly type: "body" | "result"; readonly n: number; readonly id: JobId }
  | { readonly type: "upkeep"; readonly n: number }
  | { readonly type: "backup"; readonly n: number; readonly path: string }
  | { readonly type: "close"; readonly n: number };

/** An answer to anything but verbs. */
export type Answer =
  | { readonly ok: true; readonly value: Body | Result | Upkeep | null }
  | { readonly ok: false; readonly message: string };

export type FromWorker =
  | { readonly type: "ready" }
  | { readonly type: "replies"; readonly replies: readonly Reply[]; readonly commits: readonly CommitReport[] }
  | { readonly type: "answer"; readonly n: number; readonly answer: Answer }
  | { readonly type: "broken"; readonly message: string };
