// Batches as callers have them: made from an uploaded file, read, listed and cancelled, each owner for itself.

import { z } from "zod";
import type { Batch } from "../domain/batch.ts";
import { SirError } from "../domain/errors.ts";
import { type BatchId, type CallerId, type IdSource, parseFileId } from "../domain/ids.ts";
import type { Store } from "../store/store.ts";
import type { BatchRunner } from "./runner.ts";
import { readExpiry } from "./upload.ts";

/** Of one caller, not final. */
const MOST_OPEN = 1_000;
const RETRY_AFTER_MS = 30_000;
const MINUTE_MS = 60_000;
const UNIT_MS = { m: MINUTE_MS, h: 60 * MINUTE_MS, d: 24 * 60 * MINUTE_MS } as const;
const LONGEST_WINDOW_MS = 30 * UNIT_MS.d;
const METADATA_PAIRS = 16;

/** What lines may ask for: everything that answers JSON with JSON. */
export const BATCH_ENDPOINTS = [
  "/v1/responses",
  "/v1/chat/completions",
  "/v1/completions",
  "/v1/embeddings",
  "/v1/moderations",
  "/v1/rerank",
  "/v1/score",
  "/v1/classify",
  "/v1/pooling",
] as const;

/** Unknown members are let through: OpenAI adds some each year. */
const requestSchema = z.looseObject({
  input_file_id: z.string(),
  endpoint: z.string(),
  completion_window: z.string(),
  metadata: z
    .record(z.string().min(1).max(64), z.string().max(512))
    .refine((metadata) => Object.keys(metadata).length <= METADATA_PAIRS, `must have at most ${METADATA_PAIRS} pairs`)
    .nullish(),
  output_expires_after: z.looseObject({ anchor: z.unknown(), seconds: z.unknown() }).nullish(),
});

export interface BatchDesk {
  /**
   * Resolves after COMMIT; validation follows in the background.
   * @throws {SirError} invalid_body, unsupported_endpoint, file_not_found, too_many_jobs, draining
   */
  create(caller: CallerId, request: unknown): Promise<Batch>;
  /** A batch that is over, or nearly, stays as it is. Null: the caller has no such batch. */
  cancel(caller: CallerId, id: BatchId): Promise<Batch | null>;
}

export interface BatchDeskDeps {
  readonly store: Pick<Store, "batches">;
  readonly ids: IdSource;
  readonly runner: Pick<BatchRunner, "adopt" | "changed">;
}

export function createBatchDesk({ store, ids, runner }: BatchDeskDeps): BatchDesk {
  return {
    async create(caller, request) {
      const { input_file_id, endpoint, completion_window, metadata, output_expires_after } = readRequest(request);
      if (!(BATCH_ENDPOINTS as readonly string[]).includes(endpoint)) {
        const message = `"endpoint" must be one of ${BATCH_ENDPOINTS.join(", ")}.`;
        throw new SirError("unsupported_endpoint", message, { param: "endpoint" });
      }
      const windowMs = readWindow(completion_window);
      const expiry = output_expires_after ?? null;
      const inputFile = parseFileId(input_file_id);
      if (inputFile === null) throw noInput();
      const added = await store.batches.add(
        {
          ...{ id: ids.next("batch"), caller, endpoint, inputFile, windowMs, completionWindow: completion_window },
          outputTtlMs:
            expiry === null ? null : readExpiry("output_expires_after", expiry.anchor, expiry.seconds) * 1_000,
          metadata: metadata ?? {},
        },
        MOST_OPEN,
      );
      if (added === "file_not_found") throw noInput();
      if (added === "too_many") {
        throw new SirError(
          "too_many_jobs",
          `${MOST_OPEN} batches are not done yet, which is the limit; try again later.`,
          {
            retryAfterMs: RETRY_AFTER_MS,
          },
        );
      }
      await runner.adopt(added);
      return added;
    },
    async cancel(caller, id) {
      const batch = await store.batches.cancel(caller, id);
      if (batch !== null) runner.changed(batch);
      return batch;
    },
  };
}

function readRequest(request: unknown): z.output<typeof requestSchema> {
  const read = requestSchema.safeParse(request);
  if (read.success) return read.data;
  const issue = read.error.issues[0];
  const param = issue?.path.join(".") ?? "";
  throw new SirError("invalid_body", `"${param}": ${issue?.message ?? "is not as it should be"}.`, { param });
}

function readWindow(text: string): number {
  const [, count, unit] = /^(\d{1,6})([mhd])$/.exec(text) ?? [];
  const windowMs = Number(count) * UNIT_MS[(unit ?? "m") as keyof typeof UNIT_MS];
  if (windowMs >= MINUTE_MS && windowMs <= LONGEST_WINDOW_MS) return windowMs;
  const message = '"completion_window" must be a number of minutes, hours or days from 1m to 30d, as in 24h.';
  throw new SirError("invalid_body", message, { param: "completion_window" });
}

function noInput(): SirError {
  return new SirError("file_not_found", "There is no such file; upload it first, with purpose batch.", {
    param: "input_file_id",
  });
}
