// Settings on trial in a running router: begin one with a proposal, look at it, take it back.

import type { TuneReport } from "../simulator/tune.ts";
import type { Io } from "./command.ts";
import { EXIT, type ExitCode } from "./exit-codes.ts";
import { instantText } from "./instant.ts";
import type { RouterClient } from "./router-client.ts";

const PATH = "/admin/tuning";

interface Trial {
  readonly state: string;
  readonly at: number;
  readonly until: number | null;
  readonly set: Readonly<Record<string, unknown>>;
  readonly reason: string;
}

/** Nothing is sent without a proposal. */
export async function beginTrial(
  router: RouterClient,
  { proposal, verdict }: TuneReport,
  shadowSeconds: number,
  io: Io,
): Promise<ExitCode> {
  if (proposal === null) {
    io.err(`sir: nothing was applied. ${verdict}`);
    return EXIT.failed;
  }
  const { policy, set, base } = proposal;
  const trial = (await router.ask("POST", PATH, { policy, set, base, shadow_seconds: shadowSeconds })) as Trial;
  io.err(trialText(trial, io));
  return EXIT.done;
}

export async function endTrial(router: RouterClient, json: boolean, io: Io): Promise<ExitCode> {
  const trial = (await router.ask("DELETE", PATH)) as Trial;
  io.out(json ? JSON.stringify(trial) : trialText(trial, io));
  return EXIT.done;
}

export async function showTrials(router: RouterClient, json: boolean, io: Io): Promise<ExitCode> {
  const { data } = (await router.ask("GET", PATH)) as { data: readonly Trial[] };
  if (json) io.out(JSON.stringify({ object: "list", data, has_more: false }));
  else
    io.out(data.length === 0 ? "No settings were ever tuned." : data.map((trial) => trialText(trial, io)).join("\n"));
  return EXIT.done;
}

function trialText({ state, at, until, set, reason }: Trial, { zone }: Io): string {
  const ends = until === null ? "" : ` until ${instantText(until * 1_000, zone)}`;
  return `${instantText(at * 1_000, zone)}  ${state}${ends}  ${JSON.stringify(set)}  ${reason}`;
}
