// `sir pause` and `sir resume`: stop starting work and moving models, on one device or all, and go on.

import type { StatusWire } from "../client/wire-status.ts";
import { quantity } from "../scheduler/wording.ts";
import { type Command, defineSirCommand } from "./command.ts";
import { EXIT } from "./exit-codes.ts";
import { ROUTER_ARGS, routerClient, withRouter } from "./router-client.ts";

type Examples = Command["examples"];

function switchCommand(name: "pause" | "resume", summary: string, examples: Examples): Command {
  return defineSirCommand({
    name,
    summary,
    examples,
    args: {
      device: { type: "string", valueHint: "D", description: "Only this device; default all of them." },
      note: { type: "string", valueHint: "TEXT", description: "Why; everybody who looks is shown it." },
      ...ROUTER_ARGS,
    },
    run: (args, io) =>
      withRouter(io, args["json"] === true, async () => {
        const { device, note } = args;
        const query = device === undefined ? "" : `?${new URLSearchParams({ device })}`;
        const body = note === undefined ? undefined : { note };
        const answer = await (await routerClient(args, io)).ask("POST", `/admin/${name}${query}`, body);
        if (args["json"] === true) io.out(JSON.stringify(answer));
        else io.out(said(name, device ?? null, answer as StatusWire));
        return EXIT.done;
      }),
  });
}

function said(name: "pause" | "resume", device: string | null, { queued, running }: StatusWire): string {
  const what = device ?? "The router";
  const waiting = `${quantity(queued, "job waits", "jobs wait")}`;
  if (name === "resume") return `${what} goes on: ${running} running, ${waiting}.`;
  const goesOn = running === 0 ? "nothing runs" : `${quantity(running, "running job finishes", "running jobs finish")}`;
  return `${what} is paused: ${goesOn}, ${waiting}.`;
}

export const pause = switchCommand(
  "pause",
  "Start no more jobs and move no model; what runs goes on, new jobs are accepted and wait.",
  [
    ["sir pause --note 'new driver'", "before touching the box"],
    ["sir pause --device gpu0", "one GPU; the others go on"],
  ],
);

export const resume = switchCommand("resume", "Go on after a pause or a drain.", [
  ["sir resume", "and after; a drain ends too"],
  ["sir resume --device gpu0", "one GPU"],
]);
