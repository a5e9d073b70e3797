// `sir jobs cancel`: some jobs by id, or all that match, after a question.

import type { Receipt } from "../client/wire.ts";
import { quantity } from "../scheduler/wording.ts";
import { type Io, UsageError } from "./command.ts";
import { type Desk, needsRouter } from "./desk.ts";
import { EXIT, type ExitCode } from "./exit-codes.ts";
import { jobQuery, readRows } from "./jobs-list.ts";
import { findId } from "./record-id.ts";
import { type RouterClient, RouterError } from "./router-client.ts";

type Args = Readonly<Record<string, unknown>>;

const AT_ONCE = 8;
const PAGE = "100";

/** Ends with the worst that happened to any of them. */
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
  return cancelEach(router, whole, json, io);
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
  return cancelEach(router, ids, json, io);
}

async function cancelEach(router: RouterClient, ids: readonly string[], json: boolean, io: Io): Promise<ExitCode> {
  const ended: Receipt[] = [];
  let worst: RouterError | null = null;
  const left = [...ids];
  const work = async (): Promise<void> => {
    for (let id = left.shift(); id !== undefined; id = left.shift()) {
      try {
        const receipt = (await router.ask("POST", `/v1/jobs/${id}/cancel`)) as Receipt;
        ended.push(receipt);
        if (!json) io.out(`${id}\t${receipt.status}`);
      } catch (error) {
        if (!(error instanceof RouterError) || error.exit === EXIT.unreachable) throw error;
        worst = error;
        if (!json) io.err(`sir: ${id}: ${error.message}`);
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  const failure = worst as RouterError | null;
  if (json && failure !== null) throw failure;
  if (json) io.out(JSON.stringify({ object: "list", data: ended, has_more: false }));
  return failure?.exit ?? EXIT.done;
}
