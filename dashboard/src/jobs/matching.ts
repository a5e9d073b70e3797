// All jobs that match the filters and are not over: counted page by page, so that the reader confirms a number, and then
// cancelled by their ids. What comes after the count is left alone.

import type { CancelList, CancelOutcomeWire, JobRowList } from "../../../src/client/wire-live.ts";
import { getJson, postJson, withQuery } from "../api.ts";
import { type JobFilters, pageQuery } from "./filters.ts";

/** The most that the router takes, and that it lists. */
const AT_ONCE = 100;
/** More are done in several goes. */
export const MOST = 10_000;

export interface Counted {
  readonly ids: readonly string[];
  readonly running: number;
  /** There were more than `MOST`: these are the newest. */
  readonly cut: boolean;
}

/** Filters that only what is over can match have nothing to cancel. */
export const mayBeLive = ({ status }: Pick<JobFilters, "status">): boolean =>
  status === "" || status === "queued" || status === "in_progress";

/** @param tell How many there are so far. @throws {ApiError} and what an abort throws */
export async function countMatching(
  filters: JobFilters,
  signal: AbortSignal,
  tell: (count: number) => void,
): Promise<Counted> {
  const live: JobFilters = {
    ...filters,
    sort: "",
    status: filters.status === "" ? "queued,in_progress" : filters.status,
  };
  const ids: string[] = [];
  let running = 0;
  for (let after: string | null = null; ids.length < MOST; ) {
    const page: JobRowList = await getJson(withQuery("v1/jobs", pageQuery(live, AT_ONCE, after)), signal);
    ids.push(...page.data.map(({ id }) => id));
    running += page.data.filter(({ status }) => status === "in_progress").length;
    tell(ids.length);
    after = page.has_more ? page.last_id : null;
    if (after === null) return { ids, running, cut: false };
  }
  return { ids, running, cut: true };
}

/**
 * An abort is heeded between two requests, so that what became of each job is known.
 * @param tell What became of those that were asked for so far.
 * @throws {ApiError} the rest is as it was
 */
export async function cancelAll(
  ids: readonly string[],
  signal: AbortSignal,
  tell: (outcomes: readonly CancelOutcomeWire["outcome"][]) => void,
): Promise<void> {
  const outcomes: CancelOutcomeWire["outcome"][] = [];
  for (let from = 0; from < ids.length && !signal.aborted; from += AT_ONCE) {
    const { data } = await postJson<CancelList>("v1/jobs/cancel", { ids: ids.slice(from, from + AT_ONCE) });
    outcomes.push(...data.map(({ outcome }) => outcome));
    tell([...outcomes]);
  }
}
