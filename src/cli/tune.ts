// `sir tune`: whether a setting should be another, from days of recorded traffic. A report; it applies nothing by itself.

import { defineSirCommand, UsageError } from "./command.ts";
import { HISTORY_ARGS, openHistorySource } from "./history-source.ts";
import { parseInstant, parseSpan } from "./instant.ts";
import { routerClient, withRouter } from "./router-client.ts";
import { beginTrial, endTrial, showTrials } from "./tune-trial.ts";

const MOST_DAYS = 30;

export const tune = defineSirCommand({
  name: "tune",
  summary:
    "Say from recorded days whether a setting of the policy should be another, and draw waiting against loading.",
  examples: [
    ["sir tune", "the last seven days: what half, double and in between of each setting would have given"],
    ["sir tune --apply", "try the proposal: a day in shadow, then obeyed and watched; sir tune --back takes it back"],
    ["sir tune --days 14 --svg charts --json", "two weeks, as JSON, with the curve as a picture"],
  ],
  args: {
    days: {
      type: "string",
      valueHint: "N",
      default: "7",
      description: `How many days back, 1 to ${MOST_DAYS}; five with enough jobs are needed.`,
    },
    to: {
      type: "string",
      valueHint: "T",
      default: "now",
      description: "Where the last day ends: now, yesterday, 2026-03-01.",
    },
    apply: {
      type: "boolean",
      description: "Try the proposal, if there is one, in the running router: first in shadow, then watched.",
    },
    shadow: {
      type: "string",
      valueHint: "SPAN",
      default: "1d",
      description: "With --apply: how long it is only asked and not obeyed, e.g. 12h; a day by default.",
    },
    back: { type: "boolean", description: "Take back in the running router what is on trial or kept." },
    trials: { type: "boolean", description: "Show what became of proposals in the running router." },
    svg: { type: "string", valueHint: "DIR", description: "Write the curve into this folder." },
    ...HISTORY_ARGS,
  },
  run: async (args, io) => {
    const json = args["json"] === true;
    return withRouter(io, json, async () => {
      const router = await routerClient(args, io);
      if (args["back"] === true) return endTrial(router, json, io);
      if (args["trials"] === true) return showTrials(router, json, io);
      const shadowMs = parseSpan(String(args["shadow"])) ?? 0;
      if (shadowMs <= 0) throw new UsageError("--shadow must be a span such as 12h or 1d.");
      const days = daysOf(String(args["days"]));
      const endMs = parseInstant(String(args["to"]), "to", io.clock.wallMs());
      const source = await openHistorySource(args, io);
      try {
        const { tuneFrom } = await import("./tune-report.ts");
        const { report, code } = await tuneFrom(source, { endMs, days, svg: args["svg"], json }, io);
        return args["apply"] === true ? await beginTrial(router, report, shadowMs / 1_000, io) : code;
      } finally {
        source.close();
      }
    });
  },
});

function daysOf(text: string): number {
  const days = /^\d{1,2}$/.test(text) ? Number(text) : 0;
  if (days >= 1 && days <= MOST_DAYS) return days;
  throw new UsageError(`--days must be a whole number from 1 to ${MOST_DAYS}; traffic is kept for thirty days.`);
}
