// The decision log over HTTP: why the router did what it did.

import type { DecisionList } from "../client/wire.ts";
import { SirError } from "../domain/errors.ts";
import type { DecisionId, JobId } from "../domain/ids.ts";
import { isOwn, mayObserve } from "./caller.ts";
import { decisionFor } from "./decision-wire.ts";
import type { Call, HttpWorld } from "./deps.ts";
import { invalidQuery } from "./error-body.ts";
import { canonical } from "./job-list.ts";
import { onlyKnown, readJobId, readLimit } from "./query.ts";

const DECISION_ID = /^dec_[0-9a-f]{32}$/;
const NO_STORE = { "cache-control": "no-store" };

/** `GET /v1/decisions`: newest first; with `after`, those before it. */
export async function listDecisions(c: Call, world: HttpWorld): Promise<Response> {
  onlyKnown(c, ["limit", "after", "model", "job"]);
  const after = c.req.query("after");
  if (after !== undefined && !DECISION_ID.test(after)) {
    throw invalidQuery("after", '"after" must be a decision\'s id: dec_ and 32 hexadecimal digits.');
  }
  const model = c.req.query("model");
  const job = await readOwnJob(c, world);
  const page = await world.store.decisions({
    ...(after === undefined ? {} : { after: after as DecisionId }),
    ...(model === undefined ? {} : { model: canonical(world, model) }),
    ...(job === undefined ? {} : { job }),
    limit: readLimit(c),
  });
  const list: DecisionList = {
    object: "list",
    data: page.data.map((decision) => decisionFor(c, decision)),
    first_id: page.data[0]?.id ?? null,
    last_id: page.data.at(-1)?.id ?? null,
    has_more: page.hasMore,
  };
  return c.json(list, 200, NO_STORE);
}

/** Which decisions name a job is its caller's to know, and an observer's. */
async function readOwnJob(c: Call, world: HttpWorld): Promise<JobId | undefined> {
  const id = readJobId(c, "job");
  if (id === undefined || mayObserve(c)) return id;
  const job = await world.store.job(id);
  if (job !== null && isOwn(c, job)) return id;
  throw new SirError("job_not_found", "There is no such job; it may have been removed after its time.", {
    param: "job",
  });
}

/** `GET /v1/decisions/{id}` */
export async function readDecision(c: Call, world: HttpWorld): Promise<Response> {
  const id = c.req.param("id") ?? "";
  const decision = DECISION_ID.test(id) ? await world.store.decision(id as DecisionId) : null;
  if (decision === null) throw new SirError("decision_not_found", "No such decision. Old ones are removed in time.");
  return c.json(decisionFor(c, decision), 200, NO_STORE);
}
