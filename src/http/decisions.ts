// The decision log over HTTP: why the router did what it did.

import type { DecisionList } from "../client/wire.ts";
import type { DecisionKind, DecisionReason } from "../domain/decision.ts";
import { SirError } from "../domain/errors.ts";
import { type DecisionId, decisionIdAt, type JobId } from "../domain/ids.ts";
import { isOwn, mayObserve } from "./caller.ts";
import { decisionFor } from "./decision-wire.ts";
import type { Call, HttpWorld } from "./deps.ts";
import { invalidQuery } from "./error-body.ts";
import { canonical } from "./job-filters.ts";
import { onlyKnown, readJobId, readLimit } from "./query.ts";
import { readDevice } from "./timeline.ts";

const DECISION_ID = /^dec_[0-9a-f]{32}$/;
const NO_STORE = { "cache-control": "no-store" };

/** `GET /v1/decisions`: newest first; with `after`, those before it. */
export async function listDecisions(c: Call, world: HttpWorld): Promise<Response> {
  onlyKnown(c, ["limit", "after", "before", "model", "job", "kind", "reason", "device"]);
  const after = c.req.query("after");
  if (after !== undefined && !DECISION_ID.test(after)) {
    throw invalidQuery("after", '"after" must be a decision\'s id: dec_ and 32 hexadecimal digits.');
  }
  const model = c.req.query("model");
  const job = await readOwnJob(c, world);
  const reason = c.req.query("reason");
  const device = readDevice(c, world);
  const kinds = readKinds(c);
  const before = readBefore(c);
  const page = await world.store.decisions({
    ...(after === undefined ? {} : { after: after as DecisionId }),
    ...(model === undefined ? {} : { model: canonical(world, model) }),
    ...(job === undefined ? {} : { job }),
    ...(before === null ? {} : { before }),
    ...(kinds === null ? {} : { kinds }),
    ...(reason === undefined ? {} : { reason: reason as DecisionReason }),
    ...(device === null ? {} : { device }),
    limit: readLimit(c),
  });
  const list: DecisionList = {
    object: "list",
    data: page.data.map((decision) => decisionFor(c, decision)),
    first_id: page.data[0]?.id ?? null,
    last_id: page.last,
    has_more: page.hasMore,
  };
  return c.json(list, 200, NO_STORE);
}

const KINDS: readonly DecisionKind[] = ["swap", "load", "preload", "unload", "hold", "idle"];

function readKinds(c: Call): readonly DecisionKind[] | null {
  const text = c.req.query("kind");
  if (text === undefined || text === "") return null;
  return text.split(",").map((word) => {
    const kind = KINDS.find((each) => each === word.trim());
    if (kind === undefined) throw invalidQuery("kind", `"kind" must be one or several of ${KINDS.join(", ")}.`);
    return kind;
  });
}

/** An instant: ids begin with theirs. */
function readBefore(c: Call): DecisionId | null {
  const text = c.req.query("before");
  if (text === undefined) return null;
  if (/^\d{1,12}(\.\d{1,6})?$/.test(text)) return decisionIdAt(Number(text) * 1000);
  throw invalidQuery("before", '"before" must be an instant in Unix seconds.');
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
