// Batches over HTTP, in OpenAI's shapes.

import type { BatchDesk } from "../batches/desk.ts";
import type { Batch } from "../domain/batch.ts";
import { SirError } from "../domain/errors.ts";
import { type BatchId, parseBatchId } from "../domain/ids.ts";
import { callerOf } from "./caller.ts";
import type { Call, HttpWorld } from "./deps.ts";
import { drainingError, invalidQuery } from "./error-body.ts";
import { readJson } from "./json-body.ts";
import { onlyKnown, readLimit } from "./query.ts";

const NO_STORE = { "cache-control": "no-store" };

export async function createBatch(c: Call, world: HttpWorld, desk: BatchDesk): Promise<Response> {
  if (world.closing?.draining.aborted === true) throw drainingError();
  return c.json(batchWire(await desk.create(callerOf(c), await readJson(c, world))), 200, NO_STORE);
}

export async function listBatches(c: Call, world: HttpWorld): Promise<Response> {
  onlyKnown(c, ["limit", "after"]);
  const text = c.req.query("after");
  const after = text === undefined ? undefined : parseBatchId(text);
  if (after === null) throw invalidQuery("after", '"after" must be a batch\'s id: batch_ and 32 hexadecimal digits.');
  const limit = readLimit(c);
  const page = await world.store.batches.list({
    caller: callerOf(c),
    limit,
    ...(after === undefined ? {} : { after }),
  });
  const data = page.data.map(batchWire);
  const ends = { first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null };
  return c.json({ object: "list", data, ...ends, has_more: page.hasMore }, 200, NO_STORE);
}

export async function readBatch(c: Call, world: HttpWorld): Promise<Response> {
  const batch = await world.store.batches.get(callerOf(c), idOf(c));
  if (batch === null) throw noSuchBatch();
  return c.json(batchWire(batch), 200, NO_STORE);
}

/** 200 with the batch, however often it is asked and whatever it finds. */
export async function cancelBatch(c: Call, desk: BatchDesk): Promise<Response> {
  const batch = await desk.cancel(callerOf(c), idOf(c));
  if (batch === null) throw noSuchBatch();
  return c.json(batchWire(batch), 200, NO_STORE);
}

function idOf(c: Call): BatchId {
  const id = parseBatchId(c.req.param("id") ?? "");
  if (id === null) throw noSuchBatch();
  return id;
}

function noSuchBatch(): SirError {
  return new SirError("batch_not_found", "There is no such batch; one that is over can be read for thirty days.");
}

function unix(wallMs: number | undefined): number | null {
  return wallMs === undefined ? null : Math.floor(wallMs / 1000);
}

export function batchWire(batch: Batch) {
  const { walls } = batch;
  const createdWallMs = walls.validating ?? 0;
  return {
    id: batch.id,
    object: "batch",
    endpoint: batch.endpoint,
    errors: batch.faults === null ? null : { object: "list", data: batch.faults },
    input_file_id: batch.inputFile,
    completion_window: batch.completionWindow,
    status: batch.status,
    output_file_id: batch.outputFile,
    error_file_id: batch.errorFile,
    created_at: Math.floor(createdWallMs / 1000),
    in_progress_at: unix(walls.in_progress),
    expires_at: Math.floor((createdWallMs + batch.deadlineMs - batch.createdMs) / 1000),
    finalizing_at: unix(walls.finalizing),
    completed_at: unix(walls.completed),
    failed_at: unix(walls.failed),
    expired_at: unix(walls.expired),
    cancelling_at: unix(walls.cancelling),
    cancelled_at: unix(walls.cancelled),
    request_counts: { total: batch.total, completed: batch.completed, failed: batch.failed },
    metadata: batch.metadata,
  } as const;
}
