// `sir hints`: say beforehand which model will be needed, see what was said, take it back.

import type { HintList, HintWire } from "../client/wire.ts";
import { defineSirCommand, type Io, UsageError } from "./command.ts";
import { EXIT, type ExitCode } from "./exit-codes.ts";
import { ROUTER_ARGS, type RouterClient, routerClient, withRouter } from "./router-client.ts";
import { type Column, printTable } from "./table.ts";
import { verbOf } from "./verb.ts";

const VERBS = ["list", "add", "remove"] as const;

export const hints = defineSirCommand({
  name: "hints",
  summary: "Say beforehand which model will be needed, so that it is loaded by then; list or remove what was said.",
  examples: [
    ["sir hints", "what was said, and what became of it"],
    ["sir hints add coder --at 02:00 --repeat daily --jobs 200 --priority batch", "each night by the router's clock"],
    ["sir hints add coder --in 90s", "in a minute and a half"],
    ["sir hints remove hint_0199...", "take it back"],
  ],
  args: {
    verb: { type: "positional", required: false, description: `One of ${VERBS.join(", ")}; default list.` },
    subject: { type: "positional", required: false, description: "With add: a model; with remove: a hint's id." },
    at: { type: "string", description: "When: 02:00, 2026-12-01T02:00:00Z, or Unix seconds." },
    in: { type: "string", description: "Instead of --at: 90s, 5m, 1h30m." },
    until: { type: "string", description: "Until when the need may still come, as --at." },
    repeat: { type: "string", description: "daily." },
    jobs: { type: "string", description: "How many jobs are expected." },
    priority: { type: "string", description: "Of these jobs: interactive, normal, batch or an integer." },
    ...ROUTER_ARGS,
  },
  run: async (args, io) => {
    const json = args["json"] === true;
    const verb = verbOf("hints", String(args["verb"] ?? "list"), VERBS);
    const { subject } = args;
    const router = await routerClient(args, io);
    return withRouter(io, json, async () => {
      if (verb === "list") return list(router, json, io);
      if (typeof subject !== "string") {
        throw new UsageError(`sir hints ${verb} needs ${verb === "add" ? "a model's name" : "a hint's id"}.`);
      }
      if (verb === "remove") {
        const gone = await router.ask("DELETE", `/v1/hints/${encodeURIComponent(subject)}`);
        io.out(json ? JSON.stringify(gone) : `removed ${subject}`);
        return EXIT.done;
      }
      const hint = (await router.ask("POST", "/v1/hints", bodyOf(subject, args))) as HintWire;
      io.out(json ? JSON.stringify(hint) : row(hint).join("\t"));
      if (!hint.acts) io.err("Hints load nothing at present: see `preloading` in /v1/status.");
      return EXIT.done;
    });
  },
});

/** Numbers as numbers; what they mean is judged by the router. */
function bodyOf(model: string, args: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const body: Record<string, unknown> = { model };
  for (const name of ["at", "in", "until", "repeat", "jobs", "priority"]) {
    const text = args[name];
    if (typeof text !== "string") continue;
    body[name] = /^[+-]?\d+(\.\d+)?$/.test(text.trim()) ? Number(text) : text;
  }
  return body;
}

async function list(router: RouterClient, json: boolean, io: Io): Promise<ExitCode> {
  const found = (await router.ask("GET", "/v1/hints")) as HintList;
  if (json) {
    io.out(JSON.stringify(found));
    return EXIT.done;
  }
  printTable(io, COLUMNS, found.data.map(row));
  return EXIT.done;
}

const COLUMNS: readonly Column[] = [
  { title: "HINT", least: 14 },
  { title: "MODEL", least: 12 },
  { title: "STATE" },
  { title: "AT" },
  { title: "REPEAT", sparse: true },
  { title: "JOBS", right: true, sparse: true },
  { title: "LAST", sparse: true },
];

function row(hint: HintWire): string[] {
  return [
    hint.id,
    hint.model,
    hint.state,
    new Date(hint.at * 1_000).toISOString().replace(".000Z", "Z"),
    hint.repeat ?? "-",
    hint.jobs === null ? "-" : String(hint.jobs),
    hint.last ?? "-",
  ];
}
