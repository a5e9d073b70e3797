// `sir decisions`: what the scheduler did and why, as a list, as it comes, or one of them down to the last addend.

import type { DecisionList, DecisionWire } from "../client/wire.ts";
import { defineSirCommand, type Io, UsageError } from "./command.ts";
import { DECISION_COLUMNS, decisionRow } from "./decision-text.ts";
import { atDesk, DESK_ARGS, type Desk, needsRouter } from "./desk.ts";
import { EXIT, type ExitCode } from "./exit-codes.ts";
import { explainDecision } from "./explain.ts";
import { untilInterrupted } from "./interrupt.ts";
import { limitOf } from "./limit-arg.ts";
import { liveFeed } from "./live-feed.ts";
import { findId } from "./record-id.ts";
import { withRouter } from "./router-client.ts";
import { printTable, tableText } from "./table.ts";
import { choiceOf, verbOf } from "./verb.ts";
import { sayZone } from "./zone.ts";

const VERBS = ["list", "show"] as const;
const KINDS = ["swap", "load", "preload", "unload", "hold", "idle"] as const;
/** As many as a page may have. */
const CATCH_UP = 50;

export const decisions = defineSirCommand({
  name: "decisions",
  summary: "List what the scheduler decided and why; follow it; show one with all its numbers.",
  examples: [
    ["sir decisions --limit 5", "the newest five, with their sentences"],
    ["sir decisions --follow", "each new one as it is made, until interrupted"],
    ["sir decisions show dec_01a2b3c4d5e6", "every addend of every model"],
    ["sir decisions --kind swap --device gpu0", "only swaps, only there"],
  ],
  args: {
    verb: { type: "positional", required: false, description: `One of ${VERBS.join(", ")}; default list.` },
    decision: { type: "positional", required: false, description: "With show: an id, its beginning or its end." },
    limit: { type: "string", default: "20", valueHint: "N", description: "How many, from 1 to 100." },
    after: { type: "string", valueHint: "ID", description: "Those before this one." },
    kind: { type: "string", valueHint: "K", description: `Only these: ${KINDS.join(", ")}.` },
    device: { type: "string", valueHint: "D", description: "Only of this device." },
    model: { type: "string", valueHint: "M", description: "Only about this model." },
    follow: { type: "boolean", alias: "f", description: "Go on as they come, until interrupted." },
    ...DESK_ARGS,
  },
  run: async (args, io) => {
    const json = args["json"] === true;
    const word = String(args["verb"] ?? "list");
    const verb = /^dec_/.test(word) ? "show" : verbOf("decisions", word, VERBS);
    const filter = filterOf(args);
    return withRouter(io, json, () =>
      atDesk(args, io, (desk) => {
        if (verb === "show") return explainDecision(desk, word === verb ? args["decision"] : word, json, io);
        if (args["decision"] !== undefined) throw new UsageError(`There is no place for "${args["decision"]}" here.`);
        return args["follow"] === true ? follow(desk, filter, json, io) : list(desk, filter, json, io);
      }),
    );
  },
});

type Filter = Readonly<Record<string, string>>;

function filterOf(args: Readonly<Record<string, unknown>>): Filter {
  const { kind, device, model, after } = args;
  return {
    limit: String(limitOf(args["limit"])),
    ...(typeof kind === "string" ? { kind: choiceOf("kind", kind, KINDS) } : {}),
    ...(typeof device === "string" ? { device } : {}),
    ...(typeof model === "string" ? { model } : {}),
    ...(typeof after === "string" ? { after } : {}),
  };
}

async function read(desk: Desk, filter: Filter): Promise<DecisionList> {
  const after = filter["after"];
  const whole = after === undefined ? {} : { after: await findId("decision", after, desk.ids("decision")) };
  return desk.decisions({ ...filter, ...whole });
}

async function list(desk: Desk, filter: Filter, json: boolean, io: Io): Promise<ExitCode> {
  const found = await read(desk, filter);
  if (json) io.out(JSON.stringify(found));
  else {
    const rows = found.data.map((each) => decisionRow(each, io));
    printTable(io, DECISION_COLUMNS, rows);
    if (found.data.length === 0) io.say("No decision yet.");
    else if (found.has_more) io.say(`More: --after ${found.last_id}`);
  }
  return EXIT.done;
}

/** The newest first, then each as it is made: after a gap in the stream, what was missed is read. */
async function follow(desk: Desk, filter: Filter, json: boolean, io: Io): Promise<ExitCode> {
  const router = needsRouter(desk, "What is decided next");
  const { signal, forget } = untilInterrupted(io);
  let last: string | null = null;
  let head = !json;
  const print = (all: readonly DecisionWire[]): void => {
    const fresh = all.filter((each) => (last === null || each.id > last) && matches(each, filter));
    if (fresh.length === 0) return;
    last = fresh.at(-1)?.id ?? last;
    if (json) for (const each of fresh) io.out(JSON.stringify(each));
    else {
      const text = tableText(
        io,
        DECISION_COLUMNS,
        fresh.map((each) => decisionRow(each, io)),
      );
      io.out(head ? text : text.slice(text.indexOf("\n") + 1));
      head = false;
      sayZone(io);
    }
  };
  try {
    for await (const event of liveFeed(router, io, signal)) {
      if (event.event === "delta") print(event.data.decisions);
      else if (event.event === "lost") io.say(`sir: ${event.why}; trying again.`);
      else if (event.event === "snapshot") {
        const limit = last === null ? filter["limit"] : CATCH_UP;
        const { data } = await read(desk, { ...filter, limit: String(limit) });
        print([...data].reverse());
      }
    }
  } finally {
    forget();
  }
  return EXIT.interrupted;
}

function matches({ kind, device, models, load, evict }: DecisionWire, filter: Filter): boolean {
  if (filter["kind"] !== undefined && kind !== filter["kind"]) return false;
  if (filter["device"] !== undefined && device !== filter["device"]) return false;
  const model = filter["model"];
  return model === undefined || load === model || evict.includes(model) || models.some((each) => each.model === model);
}
