// `sir pause` and `sir resume`: stop starting work and moving models, and go on.

import type { StatusWire } from "../client/wire-status.ts";
import { type Command, defineSirCommand } from "./command.ts";
import { EXIT } from "./exit-codes.ts";
import { ROUTER_ARGS, routerClient, withRouter } from "./router-client.ts";

function switchCommand(name: "pause" | "resume", summary: string, example: string): Command {
  return defineSirCommand({
    name,
    summary,
    examples: [[`sir ${name}`, example]],
    args: ROUTER_ARGS,
    run: (args, io) =>
      withRouter(io, args["json"] === true, async () => {
        const status = (await routerClient(args, io).ask("POST", `/admin/${name}`)) as StatusWire;
        const { queued, running } = status;
        io.out(args["json"] === true ? JSON.stringify(status) : `${name}d: ${running} running, ${queued} waiting`);
        return EXIT.done;
      }),
  });
}

export const pause = switchCommand(
  "pause",
  "Start no more jobs and move no model; what runs goes on, new jobs are accepted and wait.",
  "before touching the box",
);

export const resume = switchCommand("resume", "Go on after a pause or a drain.", "and after");
