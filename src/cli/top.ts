// `sir top`: what the devices do, as it happens, on the whole terminal; or once.

import type { StatusWire } from "../client/wire-status.ts";
import { defineSirCommand, type Io } from "./command.ts";
import { EXIT, type ExitCode } from "./exit-codes.ts";
import { ROUTER_ARGS, type RouterClient, RouterError, routerClient, withRouter } from "./router-client.ts";
import { topLines } from "./top-draw.ts";
import { readJobs, readPast } from "./top-past.ts";
import { TopSession } from "./top-session.ts";
import { topState } from "./top-state.ts";

/** Off a terminal nothing is cut that a screen would cut. */
const WHOLE = { columns: 160, rows: 400 };

export const top = defineSirCommand({
  name: "top",
  summary: "Watch what each device does: models over time, queues, decisions, jobs.",
  examples: [
    ["sir top", "until q; ? shows the keys"],
    ["sir top --device gpu0", "only that one"],
    ["sir top --once", "one screen of it, as a text"],
  ],
  args: {
    device: { type: "string", valueHint: "D", description: "Only this device." },
    once: { type: "boolean", description: "Print it once and end; so it does off a terminal." },
    ...ROUTER_ARGS,
  },
  run: async (args, io) => {
    const json = args["json"] === true;
    const router = await routerClient(args, io);
    return withRouter(io, json, async () => {
      const status = (await router.ask("GET", "/v1/status")) as StatusWire;
      const only = typeof args["device"] === "string" ? args["device"] : null;
      if (only !== null && !status.devices.some(({ id }) => id === only)) {
        throw new RouterError(`There is no device "${only}".`, EXIT.missing, "device_not_found");
      }
      if (json) {
        io.out(JSON.stringify(status));
        return EXIT.done;
      }
      const { input, out, dumb } = io.screen;
      if (args["once"] === true || !input || !out || dumb) return printOnce(router, status, only, io);
      return new TopSession(router, status, only, io).run();
    });
  },
});

async function printOnce(router: RouterClient, status: StatusWire, only: string | null, io: Io): Promise<ExitCode> {
  const state = topState(status, io.clock.nowMs(), only);
  await Promise.all([readPast(router, state), readJobs(router, state)]);
  const size = io.screen.out ? io.screen.size() : WHOLE;
  const canvas = { ...size, unicode: io.screen.unicode || !io.screen.out, color: io.color, zone: io.zone };
  const lines = topLines(state, { ...canvas, nowMs: io.clock.nowMs(), keys: false });
  io.out(
    lines
      .map((line) => line.trimEnd())
      .join("\n")
      .replace(/\n{2,}(?=[^\n]*$)/, "\n\n"),
  );
  return EXIT.done;
}
