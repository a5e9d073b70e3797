// `POST /v1/jobs/cancel`: up to a hundred jobs by their ids. Ids and no filters: what was counted and confirmed is what is
// cancelled, and nothing that came meanwhile.

import { z } from "@hono/zod-openapi";
import type { CancelOutcomeWire } from "../client/wire-live.ts";
import { SirError } from "../domain/errors.ts";
import { parseJobId } from "../domain/ids.ts";
import { isFinal, type Job } from "../domain/job.ts";
import { isOwn, mayObserve, mayOperate, requireScope } from "./caller.ts";
import type { Call, HttpWorld } from "./deps.ts";
import { readJson } from "./json-body.ts";
import { pageOf } from "./schemas.ts";
import { toWire, WIRE_STATUSES } from "./status-words.ts";

const MOST = 100;

export const CancelRequestSchema = z
  .strictObject({ ids: z.array(z.string()).min(1).max(MOST).describe("Jobs; one that is named twice counts once") })
  .openapi("CancelRequest");

const outcome = z.object({
  id: z.string(),
  outcome: z
    .enum(["cancelled", "already_over", "not_found", "not_allowed"])
    .describe("not_found also where this key may not know of it; not_allowed where it may see it and no more"),
  status: z.enum(WIRE_STATUSES).nullable().describe("As it is now; null where it was not found"),
}) satisfies z.ZodType<CancelOutcomeWire>;

export const CancelListSchema = pageOf(outcome, "CancelList");

/** @throws {SirError} scope_missing, invalid_json, invalid_body, body_too_large */
export async function cancelJobs(c: Call, world: HttpWorld): Promise<Response> {
  if (!mayOperate(c)) requireScope(c, "submit");
  const parsed = CancelRequestSchema.safeParse(await readJson(c, world));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const message = `${issue?.path.join(".") || "The body"}: ${issue?.message}`;
    throw new SirError("invalid_body", `${message}. It is {"ids": […]} with 1 to ${MOST} ids.`, { param: "ids" });
  }
  // Together, so that they share a commit.
  const data = await Promise.all([...new Set(parsed.data.ids)].map((id) => cancelOne(c, world, id)));
  const ends = { first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null, has_more: false };
  return c.json({ object: "list", data, ...ends }, 200, { "cache-control": "no-store" });
}

async function cancelOne(c: Call, world: HttpWorld, given: string): Promise<CancelOutcomeWire> {
  const id = parseJobId(given);
  const job = id === null ? null : await world.store.job(id);
  if (job === null || !(isOwn(c, job) || mayObserve(c))) return { id: given, outcome: "not_found", status: null };
  const told = (word: CancelOutcomeWire["outcome"], { state }: Job): CancelOutcomeWire => ({
    id: given,
    outcome: word,
    status: toWire(state.status),
  });
  if (!isOwn(c, job) && !mayOperate(c)) return told("not_allowed", job);
  if (isFinal(job.state.status)) return told("already_over", job);
  const ended = await world.engine.cancel(job.id, isOwn(c, job) ? "client" : "admin");
  if (ended === null) return { id: given, outcome: "not_found", status: null };
  return told(ended.changed ? "cancelled" : "already_over", ended.job);
}
