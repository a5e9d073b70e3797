// One recorded stretch told again on other days, as a history in memory.

import type { DecisionId, JobId } from "../../src/domain/ids.ts";
import { uuidV7Hex } from "../../src/domain/ids.ts";
import type { LoadRecord } from "../../src/domain/journal.ts";
import {
  type History,
  NO_HISTORY,
  type PastJob,
  type PastMove,
  type PastPage,
  type PastQuery,
} from "../../src/store/history.ts";

const ALL = { fromMs: 0, toMs: Number.MAX_SAFE_INTEGER, after: null, limit: 1_000_000 };

/** @param shiftsMs One for each time the stretch happens. */
export async function shiftedHistory(history: History, shiftsMs: readonly number[]): Promise<History> {
  const jobs = (await history.jobs(ALL)).data;
  const loads = (await history.loads(ALL)).data;
  const moves = (await history.moves(ALL)).data;
  const setups = await history.setups(ALL);
  const told = shiftsMs.map((by) => ({
    jobs: jobs.map((job, i) => shiftedJob(job, by, i)),
    loads: loads.map(
      (load): LoadRecord => ({
        ...load,
        decision: load.decision === null ? null : idOn(load.decision, by),
        startedAtMs: load.startedAtMs + by,
        endedAtMs: load.endedAtMs + by,
      }),
    ),
    moves: moves.map((move): PastMove => ({ ...move, id: idOn(move.id, by), atMs: move.atMs + by })),
  }));
  return {
    ...NO_HISTORY,
    jobs: async (query) =>
      page(
        told.flatMap((each) => each.jobs),
        query,
        (job) => job.acceptedAtMs,
      ),
    loads: async (query) =>
      page(
        told.flatMap((each) => each.loads),
        query,
        (load) => load.endedAtMs,
      ),
    moves: async (query) =>
      page(
        told.flatMap((each) => each.moves),
        query,
        (move) => move.atMs,
      ),
    setups: async () => setups.slice(0, 1).map((setup) => ({ ...setup, atMs: setup.atMs + Math.min(...shiftsMs) })),
  };
}

const idOn = (id: DecisionId, by: number): DecisionId => `${id}+${by}` as DecisionId;

function shiftedJob(job: PastJob, by: number, nth: number): PastJob {
  const acceptedAtMs = job.acceptedAtMs + by;
  return {
    ...job,
    id: `job_${uuidV7Hex(acceptedAtMs, nth & 0xfff, new Uint8Array(8))}` as JobId,
    acceptedAtMs,
    deadlineAtMs: job.deadlineAtMs === null ? null : job.deadlineAtMs + by,
    finishedAtMs: job.finishedAtMs === null ? null : job.finishedAtMs + by,
    runs: job.runs.map((run) => ({
      ...run,
      startedAtMs: run.startedAtMs + by,
      endedAtMs: run.endedAtMs === null ? null : run.endedAtMs + by,
    })),
  };
}

function page<T>(rows: readonly T[], { fromMs, toMs }: PastQuery, at: (row: T) => number): PastPage<T> {
  return { data: rows.filter((row) => at(row) >= fromMs && at(row) < toMs), next: null };
}
