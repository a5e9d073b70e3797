// `sir jobs cancel`: some jobs by id, or all that match, after a question.

import type { CancelList, CancelOutcomeWire } from "../client/wire-live.ts";
import { cancelSentence, quantity } from "../scheduler/wording.ts";
import { type Io, UsageError } from "./command.ts";
import { type Desk, needsRouter } from "./desk.ts";
import { EXIT, type ExitCode } from "./exit-codes.ts";
import { jobQuery, readRows } from "./jobs-list.ts";
import { findId } from "./record-id.ts";
import { type RouterClient, RouterError } from "./router-client.ts";

type Args = Readonly<Record<string, unknown>>;

/** As many as the route takes. */
const AT_ONCE = 100;
const PAGE = "100";

export async function cancelJobs(
  desk: Desk,
  ids: readonly string[],
  args: Args,
  json: boolean,
  io: Io,
): Promise<ExitCode> {
  const router = needsRouter(desk, "Who can be cancelled");
  if (args["all"] === true) {
    if (ids.length > 0) throw new UsageError("Name jobs, or give --all, not both.");
    return cancelAll(desk, router, args, json, io);
  }
  if (ids.length === 0) throw new UsageError("sir jobs cancel needs jobs' ids, or --all --yes.");
  const whole: string[] = [];
  for (const id of ids) whole.push(await findId("job", id, desk.ids("job")));
  const told = await cancelEach(router, whole, json, io);
  const refusal = refusalOf(told);
  if (refusal !== null) throw refusal;
  if (json) io.out(JSON.stringify(listOf(told)));
  return EXIT.done;
}

async function cancelAll(desk: Desk, router: RouterClient, args: Args, json: boolean, io: Io): Promise<ExitCode> {
  const live = typeof args["status"] === "string" ? {} : { status: "queued,in_progress" };
  const query = { ...jobQuery(args, io.clock.wallMs()), ...live, limit: PAGE };
  const ids: string[] = [];
  for (let after: string | null = null; ; ) {
    const page = await readRows(desk, after === null ? query : { ...query, after });
    ids.push(...page.data.map(({ id }) => id));
    if (!page.has_more || page.last_id === null) break;
    after = page.last_id;
  }
  if (args["yes"] !== true) {
    throw new UsageError(`That would cancel ${quantity(ids.length, "job")}. Say so with --yes.`);
  }
  if (ids.length === 0 && !json) io.say("Nothing waits or runs.");
  const told = await cancelEach(router, ids, json, io);
  if (ids.length > 0) io.say(cancelSentence(told.map(({ outcome }) => outcome)));
  if (json) io.out(JSON.stringify(listOf(told)));
  return told.some(({ outcome }) => outcome === "not_allowed") ? EXIT.denied : EXIT.done;
}

/** A hundred at once, told as they go. */
async function cancelEach(
  router: RouterClient,
  ids: readonly string[],
  json: boolean,
  io: Io,
): Promise<CancelOutcomeWire[]> {
  const told: CancelOutcomeWire[] = [];
  for (let from = 0; from < ids.length; from += AT_ONCE) {
    const { data } = (await router.ask("POST", "/v1/jobs/cancel", {
      ids: ids.slice(from, from + AT_ONCE),
    })) as CancelList;
    told.push(...data);
    if (json) continue;
    for (const { id, outcome, status } of data) {
      if (status !== null) io.out(`${id}\t${status}`);
      if (outcome === "already_over") io.say(`${id} was over already.`);
    }
  }
  return told;
}

const listOf = (data: readonly CancelOutcomeWire[]): CancelList => ({
  object: "list",
  data,
  first_id: data[0]?.id ?? null,
  last_id: data.at(-1)?.id ?? null,
  has_more: false,
});

/** A job that was named and could not be cancelled is an error; one that was over already is none. */
function refusalOf(told: readonly CancelOutcomeWire[]): RouterError | null {
  const denied = told.find(({ outcome }) => outcome === "not_allowed");
  if (denied !== undefined)
    return new RouterError(`${denied.id} is not this key's to cancel.`, EXIT.denied, "scope_missing");
  const missing = told.find(({ outcome }) => outcome === "not_found");
  if (missing === undefined) return null;
  return new RouterError(`There is no job ${missing.id}.`, EXIT.missing, "job_not_found");
}
