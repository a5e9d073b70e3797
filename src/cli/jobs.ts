// `sir jobs`: which jobs there are and where their time went; one of them; waiting for it; cancelling.

import type { Receipt } from "../client/wire.ts";
import { attend } from "./attend.ts";
import { defineSirCommand, UsageError } from "./command.ts";
import { atDesk, DESK_ARGS, needsRouter } from "./desk.ts";
import { EXIT } from "./exit-codes.ts";
import { receiptLines } from "./job-text.ts";
import { cancelJobs } from "./jobs-cancel.ts";
import { LIST_ARGS, listJobs } from "./jobs-list.ts";
import { findId } from "./record-id.ts";
import { withRouter } from "./router-client.ts";
import { verbOf } from "./verb.ts";

const VERBS = ["list", "show", "wait", "cancel"] as const;

export const jobs = defineSirCommand({
  name: "jobs",
  summary: "List jobs and where their time went; show one, wait for its answer, cancel some.",
  examples: [
    ["sir jobs --status queued,in_progress", "what waits and runs"],
    ["sir jobs --sort wait --since 6h --limit 10", "the ten that waited longest"],
    ["sir jobs --watch", "as it changes"],
    ["sir jobs wait job_01a2b3c4d5e6", "until it is done, then its answer"],
    ["sir jobs cancel 349c51 8a0f22", "two, by the ends of their ids"],
    ["sir jobs cancel --all --model code --yes", "all of one model"],
  ],
  args: {
    verb: { type: "positional", required: false, description: `One of ${VERBS.join(", ")}; default list.` },
    job: { type: "positional", required: false, description: "An id, its beginning or its end; with cancel several." },
    ...LIST_ARGS,
    all: { type: "boolean", description: "With cancel: all that wait or run, as far as the other flags let." },
    yes: { type: "boolean", alias: "y", description: "With cancel --all: really." },
    ...DESK_ARGS,
  },
  manyWords: true,
  run: async (args, io) => {
    const json = args["json"] === true;
    const [word = "list", ...ids] = args._;
    const verb = verbOf("jobs", word, VERBS);
    const [first, extra] = ids;
    if (extra !== undefined && verb !== "cancel") throw new UsageError(`There is no place for "${extra}" here.`);
    return withRouter(io, json, () =>
      atDesk(args, io, async (desk) => {
        if (verb === "cancel") return cancelJobs(desk, ids, args, json, io);
        if (verb === "list") {
          if (first !== undefined) throw new UsageError(`There is no place for "${first}" here.`);
          return listJobs(desk, args, json, io);
        }
        if (first === undefined) throw new UsageError(`sir jobs ${verb} needs a job's id.`);
        const id = await findId("job", first, desk.ids("job"));
        const router = needsRouter(desk, verb === "wait" ? "An answer" : "A receipt");
        if (verb === "wait") return attend(router, id, { json, onInterrupt: "leave" }, io);
        const receipt = (await router.ask("GET", `/v1/jobs/${id}`)) as Receipt;
        if (json) io.out(JSON.stringify(receipt));
        else {
          for (const line of receiptLines(receipt, io)) io.out(line);
          io.say(`sir explain ${id} says where its time went.`);
        }
        return EXIT.done;
      }),
    );
  },
});
