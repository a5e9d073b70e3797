// `GET /v1/jobs?view=rows`: jobs as operators list them: who waited for what, with where the time went in each row. A
// final job's split is stored with it; a live one's is cut from its model's last stretches, and left out where that is too
// long a story for a list.

import type { JobRow, JobRowList } from "../client/wire-live.ts";
import { BANDS, type Band, bandOf } from "../domain/band.ts";
import type { ModelName } from "../domain/ids.ts";
import { isFinal, type Job, type Spent } from "../domain/job.ts";
import { spentOf, splitLife } from "../domain/partition.ts";
import { CAUSES, type Cause, type Wait } from "../domain/wait.ts";
import type { EngineStatus } from "../engine/control.ts";
import type { JobRowPage, JobRowQuery } from "../store/job-rows.ts";
import { callerOf, mayObserve } from "./caller.ts";
import type { Call, HttpWorld } from "./deps.ts";
import { invalidQuery } from "./error-body.ts";
import { shownMs } from "./instants.ts";
import { canonical, readStatuses } from "./job-filters.ts";
import { onlyKnown, readChoice, readInstant, readJobId, readLimit } from "./query.ts";
import { factsOf, receiptFacts } from "./receipt.ts";
import { VARY } from "./stored-answer.ts";

const KNOWN = ["view", "status", "model", "band", "caller", "cause", "q", "sort", "from_ms", "to_ms", "after", "limit"];
const WINDOW_MS = 2 * 3_600_000;
const ID_PREFIX = /^job_[0-9a-f]{0,32}$/;
/** Stretches of one model that a list cuts its live jobs from. */
const STRETCHES_MAX = 200;

export async function listJobRows(c: Call, world: HttpWorld): Promise<Response> {
  onlyKnown(c, KNOWN);
  const status = world.engine.status();
  const query = readQuery(c, world, status);
  const nowMs = world.clock.nowMs();
  const sorted = readChoice(c, "sort", ["newest", "wait"], "newest");
  const page =
    sorted === "wait"
      ? await world.store.rows.longest({ ...query, fromMs: query.fromMs ?? nowMs - WINDOW_MS }, nowMs)
      : await world.store.rows.newest(query);
  const data = await rowsOf(c, world, page, status);
  const list: JobRowList = {
    object: "list",
    data,
    first_id: data[0]?.id ?? null,
    last_id: page.last,
    has_more: page.more,
    scanned_to_ms: page.scannedToMs === null ? null : shownMs(world, page.scannedToMs),
  };
  return c.json(list, 200, { "cache-control": "no-store", vary: VARY });
}

function readQuery(c: Call, world: HttpWorld, engine: EngineStatus): JobRowQuery {
  const observes = mayObserve(c);
  const caller = c.req.query("caller");
  if (!observes && caller !== undefined && caller !== callerOf(c)) {
    throw invalidQuery("caller", "This key may list its own jobs only.");
  }
  const model = c.req.query("model");
  const status = readStatuses(c);
  const band = readOptional(c, "band", BANDS);
  const cause = readOptional(c, "cause", CAUSES);
  const text = c.req.query("q")?.trim();
  const after = readJobId(c, "after");
  const [fromMs, toMs] = [readInstant(c, world, "from_ms"), readInstant(c, world, "to_ms")];
  return {
    caller: observes ? ((caller ?? null) as JobRowQuery["caller"]) : callerOf(c),
    ...(status === null ? {} : { status }),
    ...(model === undefined ? {} : { model: canonical(world, model) }),
    ...(band === null ? {} : { band }),
    ...(cause === null ? {} : { cause: { cause, models: modelsWaitingFor(engine, cause) } }),
    ...(text === undefined || text === "" ? {} : { text: textOf(text) }),
    ...(fromMs === null ? {} : { fromMs }),
    ...(toMs === null ? {} : { toMs }),
    ...(after === undefined ? {} : { after }),
    limit: readLimit(c),
  };
}

const textOf = (text: string): NonNullable<JobRowQuery["text"]> =>
  ID_PREFIX.test(text) ? { idPrefix: text } : { requestId: text };

function readOptional<T extends Band | Cause>(c: Call, name: string, choices: readonly T[]): T | null {
  const text = c.req.query(name);
  if (text === undefined || text === "") return null;
  const found = choices.find((choice) => choice === text);
  if (found === undefined) throw invalidQuery(name, `"${name}" must be ${choices.join(" or ")}.`);
  return found;
}

function modelsWaitingFor({ models }: EngineStatus, cause: Cause): ModelName[] {
  return models.flatMap(({ spec, wait }) => (wait?.cause === cause ? [spec.name] : []));
}

async function rowsOf(c: Call, world: HttpWorld, { jobs }: JobRowPage, engine: EngineStatus): Promise<JobRow[]> {
  const cuts = new LiveCuts(world, engine);
  const waitsFor = new Map(engine.models.map(({ spec, wait }) => [spec.name, wait?.cause ?? null]));
  const observes = mayObserve(c);
  const rows: JobRow[] = [];
  for (const job of jobs) {
    const final = isFinal(job.state.status);
    const facts = final ? factsOf(job, null, null) : await receiptFacts(world, job);
    const spent = final ? (job.spent ?? unsplit(job)) : await cuts.of(job);
    const more = {
      response: null,
      band: bandOf(job.priority),
      caller: observes ? job.caller : null,
      wait_ms: spent.waitMs,
      run_ms: spent.runMs,
      cause: job.state.status === "queued" ? (waitsFor.get(job.model) ?? null) : spent.topCause,
      parts: spent.parts,
    };
    // Spread into a new object of so many keys costs 15 µs a row, which was half of a page.
    rows.push(Object.assign(facts, more));
  }
  return rows;
}

/** Of a job that ended before splits were kept. */
function unsplit(job: Job): Spent {
  const { state } = job;
  const endMs = "finishedAtMs" in state ? state.finishedAtMs : job.acceptedAtMs;
  const startMs = "startedAtMs" in state && state.startedAtMs !== null ? state.startedAtMs : endMs;
  const [waitMs, runMs] = [startMs - job.acceptedAtMs, endMs - startMs].map((ms) => Math.max(0, Math.round(ms)));
  return { waitMs: waitMs ?? 0, runMs: runMs ?? 0, topCause: null, parts: [] };
}

/** Cuts the live jobs of one page. Each model's last stretches are read once. */
class LiveCuts {
  readonly #world: HttpWorld;
  readonly #waits = new Map<ModelName, Promise<readonly Wait[]>>();
  readonly #engine: EngineStatus;
  readonly #nowMs: number;

  constructor(world: HttpWorld, engine: EngineStatus) {
    this.#world = world;
    this.#engine = engine;
    this.#nowMs = world.clock.nowMs();
  }

  async of(job: Job): Promise<Spent> {
    const { store } = this.#world;
    const waits = await this.#waitsOf(job.model);
    const whole = waits.length < STRETCHES_MAX || (waits[0]?.fromMs ?? 0) <= job.acceptedAtMs;
    const attempts = job.attempts + job.interruptions > 0 ? await store.attempts(job.id) : [];
    const downtimes = await store.downtimes(job.acceptedAtMs, this.#nowMs);
    const spent = spentOf(splitLife({ job, nowMs: this.#nowMs, attempts, waits, downtimes }));
    return whole ? spent : { ...spent, parts: [] };
  }

  /** The stretch that goes on may not be on the disk yet. */
  async #read(model: ModelName): Promise<readonly Wait[]> {
    const stored = await this.#world.store.rows.lastWaits(model, STRETCHES_MAX);
    const open = this.#engine.models.find(({ spec }) => spec.name === model)?.wait ?? null;
    const fromMs = open?.fromMs ?? this.#nowMs;
    const before = stored.filter((wait) => wait.fromMs < fromMs);
    const ended = before.map((wait) => (wait.toMs === null ? { ...wait, toMs: fromMs } : wait));
    return open === null ? ended : [...ended, open];
  }

  #waitsOf(model: ModelName): Promise<readonly Wait[]> {
    const read = this.#waits.get(model) ?? this.#read(model);
    this.#waits.set(model, read);
    return read;
  }
}
