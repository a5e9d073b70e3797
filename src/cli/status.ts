// `sir status`: what each device does, why, and what comes next.

import type { DeviceStatusWire, StatusWire, TotalsWire } from "../client/wire-status.ts";
import { quantity } from "../scheduler/wording.ts";
import { defineSirCommand, type Io } from "./command.ts";
import { EXIT } from "./exit-codes.ts";
import { bold } from "./paint.ts";
import { span } from "./quantity.ts";
import { ROUTER_ARGS, routerClient, withRouter } from "./router-client.ts";
import { printTable } from "./table.ts";
import { harmless, wrapped } from "./width.ts";

const COLUMNS = ["DEVICE", "STATE", "DOES", "NEXT"].map((title) => ({ title }));

export const status = defineSirCommand({
  name: "status",
  summary: "Say what each device does, why, and what comes next.",
  examples: [
    ["sir status", "a sentence for each GPU, and what waits"],
    ["sir status --json", "everything the router knows of itself: GET /v1/status"],
  ],
  args: ROUTER_ARGS,
  run: (args, io) => {
    const json = args["json"] === true;
    return withRouter(io, json, async () => {
      const found = (await (await routerClient(args, io)).ask("GET", "/v1/status")) as StatusWire;
      if (json) io.out(JSON.stringify(found));
      else printStatus(found, io);
      return EXIT.done;
    });
  },
});

export function printStatus(found: StatusWire, io: Io): void {
  const { devices } = found;
  if (!io.screen.out) {
    const rows = devices.map(({ id, phase, summary, next }) => [id, phase, summary.text, next?.text ?? ""]);
    printTable(io, COLUMNS, rows);
  } else {
    const width = Math.max(0, ...devices.map(({ id }) => id.length)) + 2;
    for (const device of devices) for (const line of deviceLines(device, width, io)) io.out(line);
    if (devices.length === 0) io.out("No device: every model is served elsewhere.");
  }
  const { totals, started_at, at, policy, draining, version } = found;
  io.say(totalsText(totals));
  io.say(`sir ${version}, up ${span((at - started_at) * 1_000)}, policy ${policy}`);
  if (draining) io.say("It is draining: no new job is taken. `sir resume` ends that.");
}

/** The sentence, with what it does before why it does so; then what is expected. */
export function deviceLines(device: DeviceStatusWire, indent: number, io: Io): string[] {
  const { summary, next } = device;
  const room = Math.max(20, io.screen.size().columns - indent);
  const text = wrapped(harmless(summary.text), room);
  const more = next === null ? [] : wrapped(harmless(next.text), room);
  let left = summary.what_length;
  const painted = text.map((line) => {
    const strong = Math.max(0, Math.min(line.length, left));
    left -= line.length + 1;
    return bold(line.slice(0, strong), io.color) + line.slice(strong);
  });
  const head = harmless(device.id).padEnd(indent);
  return [...painted, ...more].map((line, at) => (at === 0 ? head : " ".repeat(indent)) + line);
}

function totalsText({ waiting, running, done_1h, failed_1h, lapsed_1h, longest_wait }: TotalsWire): string {
  const oldest = longest_wait === null ? "" : ` (oldest ${span(longest_wait.seconds * 1_000)})`;
  const done = `${quantity(done_1h, "job")} done and ${failed_1h} failed in the last hour`;
  // An older router does not say.
  const lapsed = lapsed_1h > 0 ? `, ${quantity(lapsed_1h, "job")} cancelled because nobody polled` : "";
  return `${waiting} waiting${oldest}, ${running} running; ${done}${lapsed}`;
}
