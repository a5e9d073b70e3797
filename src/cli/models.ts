// `sir models`: what is loaded where, and an operator's verbs.

import type { LogsWire, ModelStatusWire, StatusWire } from "../client/wire-status.ts";
import { sleepUntil } from "../domain/clock.ts";
import { defineSirCommand, type Io, UsageError } from "./command.ts";
import { EXIT, type ExitCode } from "./exit-codes.ts";
import { modelSaid } from "./model-said.ts";
import { gib, span } from "./quantity.ts";
import { ROUTER_ARGS, type RouterClient, routerClient, withRouter } from "./router-client.ts";
import { type Column, NONE, printTable } from "./table.ts";
import { verbOf } from "./verb.ts";

const VERBS = ["list", "load", "unload", "pin", "unpin", "drain", "logs"] as const;

const FOLLOW_EVERY_MS = 1_000;

export const models = defineSirCommand({
  name: "models",
  summary: "List the models; load, unload, pin, unpin or drain one; read its engine's log.",
  examples: [
    ["sir models", "what is loaded where, what waits, what failed"],
    ["sir models load chat", "bring it in; it evicts what it must, but never a pinned model"],
    ["sir models unload chat --force", "take it out now, without draining: what runs is queued again"],
    ["sir models drain chat", "start nothing more of it, let what runs finish, unload; load brings it back"],
    ["sir models logs chat --follow", "the engine's own log, as it grows"],
  ],
  args: {
    verb: { type: "positional", required: false, description: `One of ${VERBS.join(", ")}; default list.` },
    model: { type: "positional", required: false, description: "A model's name or alias." },
    force: { type: "boolean", description: "With unload: do not drain first." },
    lines: { type: "string", default: "200", description: "With logs: how many of the newest lines." },
    follow: { type: "boolean", alias: "f", description: "With logs: go on as lines come, until interrupted." },
    ...ROUTER_ARGS,
  },
  run: async (args, io) => {
    const json = args["json"] === true;
    const verb = verbOf("models", String(args["verb"] ?? "list"), VERBS);
    const router = await routerClient(args, io);
    return withRouter(io, json, async () => {
      if (verb === "list") return list(router, json, io);
      const model = args["model"];
      if (typeof model !== "string") throw new UsageError(`sir models ${verb} needs a model's name.`);
      if (verb === "logs")
        return logs(router, model, { lines: String(args["lines"]), follow: args["follow"] === true, json }, io);
      const query = verb === "unload" && args["force"] === true ? "?force=true" : "";
      const status = await router.ask("POST", `/admin/models/${encodeURIComponent(model)}/${verb}${query}`);
      if (json) io.out(JSON.stringify(status));
      else {
        const { models: all } = (await router.ask("GET", "/v1/status")) as StatusWire;
        const now = all.find(({ id }) => id === (status as ModelStatusWire).id) ?? (status as ModelStatusWire);
        io.out(modelSaid(verb, now, all));
      }
      return EXIT.done;
    });
  },
});

async function list(router: RouterClient, json: boolean, io: Io): Promise<ExitCode> {
  const { models: all } = (await router.ask("GET", "/v1/status")) as StatusWire;
  if (json) {
    io.out(JSON.stringify({ object: "list", data: all, has_more: false }));
    return EXIT.done;
  }
  printTable(io, COLUMNS, all.map(row));
  return EXIT.done;
}

const COLUMNS: readonly Column[] = [
  { title: "MODEL", least: 12 },
  { title: "STATE" },
  { title: "DEVICE", least: 6 },
  { title: "RUNS", right: true },
  { title: "WAIT", right: true },
  { title: "OLDEST", right: true },
  { title: "LOAD", right: true },
  { title: "MEMORY", right: true, least: 8 },
  { title: "NOTE", wraps: true, sparse: true },
];

function row(model: ModelStatusWire): string[] {
  const { interactive, normal, batch } = model.queued;
  const waiting = interactive + normal + batch;
  return [
    model.id,
    model.state,
    model.devices.length > 0 ? model.devices.join("+") : (model.device ?? NONE),
    `${model.running}/${model.concurrency}`,
    String(waiting),
    waiting === 0 ? NONE : span(model.oldest_wait_seconds * 1_000),
    loadOf(model),
    memoryOf(model),
    noteOf(model),
  ];
}

/** As measured and how often, else as guessed. */
function loadOf({ loads, load_seconds }: ModelStatusWire): string {
  const { median_seconds, count } = loads;
  if (median_seconds === null) return `~${span(load_seconds * 1_000)}`;
  return `${span(median_seconds * 1_000)} (${count})`;
}

/** As claimed, and as measured where that differs; `-` claims whole devices. */
function memoryOf({ memory_gib, measured_gib }: ModelStatusWire): string {
  const claimed = gib(memory_gib);
  return measured_gib === null || measured_gib === memory_gib ? claimed : `${claimed} (${gib(measured_gib)} seen)`;
}

function noteOf(model: ModelStatusWire): string {
  const notes: string[] = [];
  if (model.pinned) notes.push("pinned");
  if (model.paused) notes.push("paused");
  if (model.load_failures > 0)
    notes.push(`${model.load_failures} failed loads: ${model.last_error?.split("\n", 1)[0] ?? ""}`);
  return notes.length === 0 ? NONE : notes.join(", ");
}

interface LogOptions {
  readonly lines: string;
  readonly follow: boolean;
  readonly json: boolean;
}

async function logs(router: RouterClient, model: string, options: LogOptions, io: Io): Promise<ExitCode> {
  if (!/^[1-9]\d{0,3}$/.test(options.lines)) throw new UsageError("--lines must be from 1 to 9999.");
  const path = `/admin/models/${encodeURIComponent(model)}/logs?lines=${options.lines}`;
  const read = async (): Promise<readonly string[]> => ((await router.ask("GET", path)) as LogsWire).lines;
  let seen = await read();
  if (options.json && !options.follow) {
    io.out(JSON.stringify({ object: "logs", model, lines: seen }));
    return EXIT.done;
  }
  const print = (line: string): void => io.out(options.json ? JSON.stringify({ model, line }) : line);
  for (const line of seen) print(line);
  if (!options.follow) return EXIT.done;
  const interrupted = new AbortController();
  const forget = io.onSignal("SIGINT", () => interrupted.abort());
  while (!interrupted.signal.aborted) {
    await sleepUntil(io.clock, io.clock.nowMs() + FOLLOW_EVERY_MS, interrupted.signal);
    if (interrupted.signal.aborted) break;
    const now = await read();
    for (const line of newLines(seen, now)) print(line);
    seen = now;
  }
  forget();
  return EXIT.interrupted;
}

/** What `now` has after the longest end of `before` that it begins with or contains first. */
export function newLines(before: readonly string[], now: readonly string[]): readonly string[] {
  for (let overlap = Math.min(before.length, now.length); overlap > 0; overlap--) {
    const tail = before.slice(before.length - overlap);
    if (tail.every((line, i) => line === now[i])) return now.slice(overlap);
  }
  return now;
}
