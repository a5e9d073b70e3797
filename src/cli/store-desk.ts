// The store's file as a desk: the same documents as the API's, of a router that is gone or that is left in peace.

import type { DecisionList } from "../client/wire.ts";
import type { JobRow, JobRowList } from "../client/wire-live.ts";
import { loadConfig } from "../config/load.ts";
import { bandOf } from "../domain/band.ts";
import type { DecisionId, JobId, ModelName } from "../domain/ids.ts";
import { isFinal, type Job, type JobStatus } from "../domain/job.ts";
import type { LabelOf } from "../domain/life.ts";
import { readExplanation } from "../explain/read.ts";
import { decisionWire } from "../http/decision-wire.ts";
import { factsOf } from "../http/receipt.ts";
import { fromWire, withWireStatus } from "../http/status-words.ts";
import type { StoreFile } from "../store/sqlite/store-file.ts";
import { type Io, UsageError } from "./command.ts";
import type { Desk, DeskQuery } from "./desk.ts";
import { EXIT } from "./exit-codes.ts";
import { openStoredFile } from "./history-source.ts";
import { RouterError } from "./router-client.ts";

type Args = Readonly<Record<string, unknown>>;

/** @throws {UsageError} with a mend, when there is no store to read */
export async function openStoreDesk(args: Args, io: Io): Promise<Desk> {
  const { file } = await openStoredFile(args, io);
  const label = await labels(args, io);
  const nowMs = io.clock.nowMs();
  return {
    router: null,
    close: () => file.close(),
    ids: (kind) => async (after, limit) => {
      if (kind === "job")
        return (await file.jobs({ ...newest, limit, ...(after && { after: after as JobId }) })).data.map(idOf);
      return (await file.decisions({ limit, ...(after && { after: after as DecisionId }) })).data.map(idOf);
    },
    async explain(job) {
      const told = { nowMs, label, place: null, observes: true };
      return withWireStatus((await readExplanation(file, job as JobId, told)) ?? missing("job", job));
    },
    jobs: (query) => rows(file, query, nowMs, label),
    async decisions({ limit, after, model, kind, device }) {
      if (kind !== undefined || device !== undefined) {
        throw new UsageError("--kind and --device are filters of a running router.");
      }
      const query = {
        limit: Number(limit),
        ...(after && { after: after as DecisionId }),
        ...(model && { model: model as ModelName }),
      };
      const { data, hasMore } = await file.decisions(query);
      return listOf(data.map(decisionWire), hasMore) satisfies DecisionList;
    },
    async decision(id) {
      const found = await file.decision(id as DecisionId);
      return found === null ? missing("decision", id) : decisionWire(found);
    },
  };
}

const newest = { caller: null, order: "newest" } as const;
const idOf = ({ id }: { readonly id: string }): string => id;

function missing(kind: "job" | "decision", id: string): never {
  throw new RouterError(`The store knows no ${kind} ${id}.`, EXIT.missing, `${kind}_not_found`);
}

function listOf<T extends { readonly id: string }>(data: readonly T[], hasMore: boolean) {
  const ends = { first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null };
  return { object: "list" as const, data, ...ends, has_more: hasMore };
}

/** Labels stand in the configuration; where there is none to read, names must do. */
async function labels(args: Args, io: Io): Promise<LabelOf> {
  const flags = typeof args["config"] === "string" ? { config: args["config"] } : {};
  const found = await loadConfig({ cwd: io.cwd, environment: io.environment, flags }).catch(() => null);
  const known = new Map(found?.engine.models.map(({ name, label }) => [name, label]));
  return (model) => known.get(model) ?? model;
}

const FILTERS: ReadonlySet<string> = new Set(["limit", "status", "model", "after", "view"]);

async function rows(file: StoreFile, query: DeskQuery, nowMs: number, label: LabelOf): Promise<JobRowList> {
  const strange = Object.keys(query).find((name) => !FILTERS.has(name));
  if (strange !== undefined)
    throw new UsageError(`--${strange === "from_ms" ? "since" : strange} needs a running router.`);
  const { limit, status, model, after } = query;
  const { data, hasMore } = await file.jobs({
    ...newest,
    limit: Number(limit),
    ...(status && { status: status.split(",").map((word) => fromWire(word.trim()) as JobStatus) }),
    ...(model && { model: model as ModelName }),
    ...(after && { after: after as JobId }),
  });
  const found: JobRow[] = [];
  for (const job of data) found.push(await rowOf(file, job, nowMs, label));
  return { ...listOf(found, hasMore), scanned_to_ms: null };
}

async function rowOf(file: StoreFile, job: Job, nowMs: number, label: LabelOf): Promise<JobRow> {
  const receipt = { ...factsOf(job, null, null), response: null, band: bandOf(job.priority), caller: job.caller };
  if (isFinal(job.state.status) && job.spent !== null) {
    const { waitMs, runMs, topCause, parts } = job.spent;
    return { ...receipt, wait_ms: waitMs, run_ms: runMs, cause: topCause, parts };
  }
  const told = await readExplanation(file, job.id, { nowMs, label, place: null, observes: true });
  const parts = told?.parts.map(({ cause, ms }) => ({ cause, ms })) ?? [];
  const [most] = parts.filter(({ cause }) => cause !== "running").sort((a, b) => b.ms - a.ms);
  return { ...receipt, wait_ms: told?.wait_ms ?? 0, run_ms: told?.run_ms ?? 0, cause: most?.cause ?? null, parts };
}
