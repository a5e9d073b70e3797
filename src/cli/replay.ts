// `sir replay`: recorded traffic once more through the live engine, under the settings that ran and under others.

import { defineSirCommand } from "./command.ts";
import { HISTORY_ARGS, openHistorySource } from "./history-source.ts";
import { withRouter } from "./router-client.ts";

export const replay = defineSirCommand({
  name: "replay",
  summary: "Run recorded traffic again, under the settings that ran and under others, and compare.",
  examples: [
    ["sir replay --from yesterday --to today --policy longest", "what another policy would have made of yesterday"],
    [
      "sir replay --from 6h --set maxWaitSeconds=600 --set minResidencySeconds=60 --svg charts",
      "two settings; with charts",
    ],
    ["sir replay --from 2h --check", "how well a replay repeats what happened; exits 8 when it does not"],
  ],
  args: {
    from: {
      type: "string",
      valueHint: "T",
      description: "Its start: 6h (ago), yesterday, 14:30, 2026-03-01T14:30. Default 24h.",
    },
    to: { type: "string", valueHint: "T", default: "now", description: "Its end, likewise." },
    policy: { type: "string", valueHint: "P", description: "Another policy, or several, separated by commas." },
    set: { type: "string", valueHint: "K=V", description: "Another setting; may be given several times." },
    svg: { type: "string", valueHint: "DIR", description: "Write charts into this folder." },
    fidelity: {
      type: "boolean",
      default: true,
      description: "Replay the settings that ran as well, and say how near it comes.",
    },
    check: { type: "boolean", description: "Exit with 8 when the settings that ran do not give what was recorded." },
    ...HISTORY_ARGS,
  },
  repeats: ["set"],
  run: async (args, io) => {
    const json = args["json"] === true;
    return withRouter(io, json, async () => {
      const source = await openHistorySource(args, io);
      try {
        return await (await import("./replay-run.ts")).replayFrom(source, args, json, io);
      } finally {
        source.close();
      }
    });
  },
});
