// `sir jobs list`: the newest jobs or those that waited longest, once or as they change.

import type { ModelList, Receipt } from "../client/wire.ts";
import type { JobRow, JobRowList } from "../client/wire-live.ts";
import { closest } from "../config/closest.ts";
import { BANDS } from "../domain/band.ts";
import { type Io, UsageError } from "./command.ts";
import { type Desk, needsRouter, type DeskQuery as Query } from "./desk.ts";
import { EXIT, type ExitCode } from "./exit-codes.ts";
import { instantText, spanSeconds } from "./instant.ts";
import { untilInterrupted } from "./interrupt.ts";
import { JOB_COLUMNS, jobRow, STATUSES } from "./job-text.ts";
import { limitOf } from "./limit-arg.ts";
import { liveFeed } from "./live-feed.ts";
import { findId } from "./record-id.ts";
import { tableText } from "./table.ts";
import { choiceOf } from "./verb.ts";
import { sayZone } from "./zone.ts";

export const LIST_ARGS = {
  status: { type: "string", valueHint: "S", description: `Only these, separated by commas: ${STATUSES.join(", ")}.` },
  model: { type: "string", alias: "m", valueHint: "M", description: "Only of this model." },
  band: { type: "string", valueHint: "B", description: `Only of this band: ${BANDS.join(", ")}.` },
  cause: { type: "string", valueHint: "C", description: "Only those that waited mostly for this, e.g. held, loading." },
  caller: { type: "string", valueHint: "K", description: "Only of this key." },
  since: { type: "string", valueHint: "T", description: "Only accepted in this time: 2h, 30m." },
  sort: { type: "string", valueHint: "wait", description: "wait: the longest wait first, of the last 2h or --since." },
  limit: { type: "string", default: "20", valueHint: "N", description: "How many, from 1 to 100." },
  after: { type: "string", valueHint: "ID", description: "Those after this one in the same order." },
  watch: { type: "boolean", alias: "w", description: "Show it again as it changes, until interrupted." },
} as const;

type Args = Readonly<Record<string, unknown>>;

/** What the API reads. @throws {UsageError} */
export function jobQuery(args: Args, nowMs: number): Query {
  const { status, model, band, cause, caller, since, sort, after } = args;
  const text = (name: string, value: unknown): Query => (typeof value === "string" ? { [name]: value } : {});
  if (sort !== undefined && sort !== "wait") throw new UsageError(`--sort knows only wait, not "${sort}".`);
  return {
    limit: String(limitOf(args["limit"])),
    ...(typeof status === "string" ? { status: statusesOf(status) } : {}),
    ...text("model", model),
    ...(typeof band === "string" ? { band: choiceOf("band", band, BANDS) } : {}),
    ...text("cause", cause),
    ...text("caller", caller),
    ...text("sort", sort),
    ...(typeof since === "string" ? { from_ms: String(Math.round(nowMs - spanSeconds(since, "since") * 1_000)) } : {}),
    ...text("after", after),
  };
}

/** As people and pages call them. */
const STATUS_WORDS: Readonly<Record<string, string>> = { waiting: "queued", running: "in_progress", done: "completed" };

function statusesOf(text: string): string {
  const words = text.split(",").map((word) => word.trim());
  return words.map((word) => choiceOf("status", STATUS_WORDS[word] ?? word, STATUSES)).join(",");
}

export async function readRows(desk: Desk, query: Query): Promise<JobRowList> {
  const after = query["after"];
  return desk.jobs(after === undefined ? query : { ...query, after: await findId("job", after, desk.ids("job")) });
}

export async function listJobs(desk: Desk, args: Args, json: boolean, io: Io): Promise<ExitCode> {
  const query = jobQuery(args, io.clock.wallMs());
  if (args["watch"] === true) return watchJobs(desk, query, json, io);
  const found = await readRows(desk, query);
  if (json) io.out(JSON.stringify(found));
  else {
    io.out(rowsText(found.data, io));
    for (const line of remarks(found, io)) io.say(line);
    if (found.data.length === 0) await sayUnknownModel(desk, query["model"], io);
  }
  return EXIT.done;
}

/** A list that is empty because of a name that nobody knows should say so. */
async function sayUnknownModel({ router }: Desk, name: string | undefined, io: Io): Promise<void> {
  if (router === null || name === undefined) return;
  const { data } = (await router.ask("GET", "/v1/models")) as ModelList;
  const known = data.flatMap(({ id, sir }) => [id, ...sir.aliases]);
  if (known.includes(name)) return;
  const near = closest(name, known);
  io.say(`No model is called "${name}" now.${near === null ? "" : ` Did you mean ${near}?`}`);
}

function rowsText(rows: readonly JobRow[], io: Io): string {
  return tableText(
    io,
    JOB_COLUMNS,
    rows.map((row) => jobRow(row, io)),
  );
}

function remarks({ data, has_more, last_id, scanned_to_ms }: JobRowList, io: Io): string[] {
  const lines = data.length === 0 ? ["No such job."] : [];
  if (scanned_to_ms !== null && scanned_to_ms !== undefined) {
    lines.push(`Looked back as far as ${instantText(scanned_to_ms, io.zone)}; --after goes on from there.`);
  }
  if (has_more && last_id !== null) lines.push(`More: --after ${last_id}`);
  return lines;
}

const HOME_AND_CLEAR = "\u001b[H\u001b[J";
const WATCH_MS = 1_000;

/** On a terminal the list again and again; off it, or as JSON, a row for each job that changed. */
async function watchJobs(desk: Desk, query: Query, json: boolean, io: Io): Promise<ExitCode> {
  const router = needsRouter(desk, "What changes");
  const { signal, forget } = untilInterrupted(io);
  const redraws = io.screen.out && !io.screen.dumb && !json;
  const seen = new Map<string, string>();
  let lastMs = Number.NEGATIVE_INFINITY;
  let head = !json;
  const show = async (): Promise<void> => {
    const { data } = await readRows(desk, query);
    if (redraws) {
      const now = instantText(io.clock.nowMs(), io.zone);
      const title = `${now} ${io.zone.foreign}`.trimEnd().concat("  Ctrl-C ends");
      io.write(`${HOME_AND_CLEAR}${title}\n\n${rowsText(data, io)}\n`);
      return;
    }
    const changed = [...data].reverse().filter((row) => seen.get(row.id) !== stateKey(row));
    for (const row of changed) seen.set(row.id, stateKey(row));
    for (const old of [...seen.keys()].slice(0, Math.max(0, seen.size - 10_000))) seen.delete(old);
    if (json) for (const row of changed) io.out(JSON.stringify(row));
    else if (changed.length > 0) {
      const text = rowsText(changed, io);
      io.out(head ? text : text.slice(text.indexOf("\n") + 1));
      head = false;
      sayZone(io);
    }
  };
  try {
    for await (const event of liveFeed(router, io, signal)) {
      if (event.event === "lost") io.say(`sir: ${event.why}; trying again.`);
      else if (event.event === "snapshot" || io.clock.nowMs() - lastMs >= WATCH_MS) {
        lastMs = io.clock.nowMs();
        await show();
      }
    }
  } finally {
    forget();
  }
  return EXIT.interrupted;
}

const stateKey = ({ status, attempts }: Receipt): string => `${status} ${attempts}`;
