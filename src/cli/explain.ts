// `sir explain`: why a job took as long as it did, why a decision was made, why a device does what it does.

import type { DeviceStatusWire, StatusWire } from "../client/wire-status.ts";
import { closest } from "../config/closest.ts";
import { defineSirCommand, type Io, UsageError } from "./command.ts";
import { decisionLines } from "./decision-text.ts";
import { atDesk, DESK_ARGS, type Desk, needsRouter } from "./desk.ts";
import { EXIT, type ExitCode } from "./exit-codes.ts";
import { explanationLines } from "./explain-report.ts";
import { span } from "./quantity.ts";
import { findId } from "./record-id.ts";
import { RouterError, withRouter } from "./router-client.ts";
import { deviceLines } from "./status.ts";
import { type Column, NONE, tableText } from "./table.ts";

export const explain = defineSirCommand({
  name: "explain",
  summary: "Say why a job took as long as it did, why a decision was made, or why a device does what it does.",
  examples: [
    ["sir explain job_01a2b3c4d5e6", "where its time went, what would change it; also while it waits"],
    ["sir explain 349c51", "the same, by the end of its id"],
    ["sir explain decision 8a0f22b1", "every addend of every model"],
    ["sir explain device gpu0", "what it does now, and what each waiting model waits for"],
    ["sir explain job_01a2b3c4d5e6 --store sqlite:data/sir.db", "from the store, when no router runs"],
  ],
  args: {
    subject: { type: "positional", required: false, description: "A job's id; or decision, or device." },
    name: { type: "positional", required: false, description: "A decision's id, or a device's name." },
    ...DESK_ARGS,
  },
  run: async (args, io) => {
    const json = args["json"] === true;
    const { subject, name } = args;
    if (typeof subject !== "string")
      throw new UsageError(
        "Explain what? `sir explain JOB`, `sir explain decision ID` or `sir explain device gpu0`; `sir jobs` lists jobs.",
      );
    return withRouter(io, json, () =>
      atDesk(args, io, (desk) => {
        if (subject === "device" || subject === "devices") return explainDevice(desk, name, json, io);
        if (subject === "decision" || /^dec_/.test(subject)) {
          return explainDecision(desk, subject === "decision" ? name : subject, json, io);
        }
        const id = subject === "job" ? name : subject;
        if (subject !== "job" && !mayBeId(subject)) throw new UsageError(noJob(subject));
        if (subject !== "job" && name !== undefined) throw new UsageError(`There is no place for "${name}" here.`);
        return explainJob(desk, id, json, io);
      }),
    );
  },
});

/** Ids are of hexadecimal digits; a device's name is what people try instead. */
const mayBeId = (word: string): boolean => /^(job_)?[0-9a-f…~.]+$/i.test(word);

const noJob = (word: string): string =>
  /^[a-z]+\d+$/i.test(word)
    ? `"${word}" is no job's id. Did you mean \`sir explain device ${word}\`?`
    : `"${word}" is no job's id. There are \`sir explain JOB\`, \`sir explain decision ID\` and \`sir explain device D\`; what a model does is in \`sir models\`.`;

async function explainJob(desk: Desk, given: unknown, json: boolean, io: Io): Promise<ExitCode> {
  if (typeof given !== "string") throw new UsageError("sir explain job needs a job's id.");
  const explanation = await desk.explain(await findId("job", given, desk.ids("job")));
  if (json) io.out(JSON.stringify(explanation));
  else for (const line of explanationLines(explanation, io)) io.out(line);
  return EXIT.done;
}

export async function explainDecision(desk: Desk, given: unknown, json: boolean, io: Io): Promise<ExitCode> {
  if (typeof given !== "string") throw new UsageError("A decision's id is missing.");
  const decision = await desk.decision(await findId("decision", given, desk.ids("decision")));
  if (json) io.out(JSON.stringify(decision));
  else for (const line of decisionLines(decision, io)) io.out(line);
  return EXIT.done;
}

async function explainDevice(desk: Desk, given: unknown, json: boolean, io: Io): Promise<ExitCode> {
  const router = needsRouter(desk, "What a device does");
  const status = (await router.ask("GET", "/v1/status")) as StatusWire;
  const devices = given === undefined ? status.devices : [deviceOf(status, String(given))];
  if (json) {
    const [only] = devices;
    io.out(JSON.stringify(given === undefined ? { object: "list", data: devices, has_more: false } : only));
    return EXIT.done;
  }
  for (const [at, device] of devices.entries()) {
    if (at > 0) io.out("");
    printDevice(device, status, io);
  }
  return EXIT.done;
}

function deviceOf({ devices }: StatusWire, name: string): DeviceStatusWire {
  const found = devices.find(({ id }) => id === name);
  if (found !== undefined) return found;
  const all = devices.map(({ id }) => id);
  const near = closest(name, all);
  const hint = near === null ? `There is ${all.join(", ")}.` : `Did you mean "${near}"?`;
  throw new RouterError(`There is no device "${name}". ${hint}`, EXIT.missing, "device_not_found");
}

const WAITING: readonly Column[] = [
  { title: "MODEL", least: 12 },
  { title: "STATE" },
  { title: "WAIT", right: true },
  { title: "OLDEST", right: true },
  { title: "WAITS FOR", least: 12 },
  { title: "SINCE", right: true },
];

function printDevice(device: DeviceStatusWire, status: StatusWire, io: Io): void {
  if (io.screen.out) for (const line of deviceLines(device, device.id.length + 2, io)) io.out(line);
  else io.out([device.id, device.phase, device.summary.text, device.next?.text ?? NONE].join("\t"));
  const waiting = status.models.filter(({ queued, waiting: for_, devices, device: own }) => {
    const count = queued.interactive + queued.normal + queued.batch;
    return count > 0 && [for_?.device, own, ...devices].includes(device.id);
  });
  if (waiting.length > 0) {
    const rows = waiting.map(({ id, state, queued, oldest_wait_seconds, waiting: why }) => [
      ...[id, state, String(queued.interactive + queued.normal + queued.batch), span(oldest_wait_seconds * 1_000)],
      why === null ? NONE : [why.cause, why.rule, why.by].filter((word) => word !== null).join(" "),
      why === null ? NONE : span((status.at - why.since) * 1_000),
    ]);
    io.out("");
    io.out(tableText(io, WAITING, rows));
  }
  if (device.decision === null) return;
  io.out("");
  for (const line of decisionLines(device.decision, io)) io.out(line);
}
