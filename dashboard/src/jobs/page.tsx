// The page "Jobs": which jobs, and where did their time go? Filters are the address; rows are read page by page along a
// key, never counted.

import { useEffect, useState } from "preact/hooks";
import { useNow } from "../clock.ts";
import { Empty, Segmented } from "../parts/panel.tsx";
import { moment } from "../parts/time.ts";
import { type Route, setQuery } from "../route.ts";
import { AskCancel } from "./ask-cancel.tsx";
import { CancelMatching } from "./cancel-matching.tsx";
import { FilterBar } from "./filter-bar.tsx";
import { filterWords, type JobFilters, NO_FILTERS, readFilters } from "./filters.ts";
import "./jobs.css";
import { JobList } from "./list.tsx";
import { mayBeLive } from "./matching.ts";
import { neighbours } from "./neighbours.ts";
import { type RowsRead, useRows } from "./read-rows.ts";
import { FRESH_MAX, type ReadRow } from "./rows.ts";

/** Bars are drawn beside the longest that is shown; below a minute all of them are short. */
const LEAST_LONGEST_MS = 60_000;
const GHOSTS = 12;
const ORDERS = [
  ["", "Newest first"],
  ["wait", "Longest wait first"],
] as const;

export function JobsPage({ route }: { readonly route: Route }) {
  const filters = readFilters(route.query);
  const read = useRows(filters);
  const [asked, setAsked] = useState<ReadRow | null>(null);
  const [all, setAll] = useState(false);
  const { list } = read.rows;
  useEffect(() => neighbours.set(list.map(({ id }) => id)), [list]);
  const longestMs = scaleFor(Math.max(LEAST_LONGEST_MS, ...list.slice(0, 400).map((row) => row.wait_ms + row.run_ms)));
  return (
    <>
      <header class="page-head">
        <h1>Jobs</h1>
        <Segmented label="Order" value={filters.sort} options={ORDERS} onChange={(sort) => setQuery({ sort })} />
        {mayBeLive(filters) && list.length > 0 && (
          <button type="button" class="button" onClick={() => setAll(true)}>
            Cancel all matching …
          </button>
        )}
        <Legend />
      </header>
      <FilterBar filters={filters} />
      {read.rows.fresh.size > 0 && <Pill fresh={read.rows.fresh.size} filters={filters} show={read.anew} />}
      {list.length > 0 && (
        <JobList list={list} hasMore={read.rows.after !== null} longestMs={longestMs} cancel={setAsked} />
      )}
      <Rest read={read} filters={filters} />
      {asked !== null && (
        <AskCancel id={asked.id} running={asked.status === "in_progress"} close={() => setAsked(null)} />
      )}
      {all && <CancelMatching filters={filters} close={() => setAll(false)} />}
    </>
  );
}

function Pill({ fresh, filters, show }: { readonly fresh: number; readonly filters: JobFilters; show(): void }) {
  const go = (): void => {
    show();
    scrollTo({ top: 0 });
  };
  const count = fresh >= FRESH_MAX ? `${FRESH_MAX} or more` : String(fresh);
  return (
    <button type="button" class="button primary pill" onClick={go}>
      {filters.sort === "wait" ? "Sort again" : `${count} new`}
    </button>
  );
}

/** In steps of a quarter of a doubling: a longest wait that grows does not draw every row again. */
function scaleFor(longestMs: number): number {
  return 2 ** (Math.ceil(Math.log2(longestMs) * 4) / 4);
}

/** What stands under the rows: loading, nothing, an error, the way on. */
function Rest({ read, filters }: { readonly read: RowsRead; readonly filters: JobFilters }) {
  const now = useNow();
  const { rows, state } = read;
  if (state instanceof Error) {
    return (
      <div class="rest" role="alert">
        <span class="fault">{state.message}</span>
        <button type="button" class="button" onClick={rows.list.length === 0 ? read.anew : read.more}>
          Try again
        </button>
      </div>
    );
  }
  if (state === "loading" && rows.list.length === 0) return <Ghosts />;
  const back = rows.scannedToMs === null ? null : moment(rows.scannedToMs, now);
  if (rows.after !== null) {
    return (
      <div class="rest">
        {back !== null && <span>{`Looked back to ${back}${rows.list.length === 0 ? " and found nothing" : ""}.`}</span>}
        <button type="button" class="button" onClick={() => state !== "loading" && read.more()}>
          {state === "loading" ? "Reading …" : back === null ? "Load more" : "Look further back"}
        </button>
      </div>
    );
  }
  if (rows.list.length > 0) return <p class="rest dim">That is all.</p>;
  const words = filterWords(filters);
  if (words === "")
    return <Empty title="No jobs yet.">They appear here as soon as somebody asks for one; see Now for how.</Empty>;
  return (
    <Empty title="No job matches.">
      <p>Filters: {words}.</p>
      <button type="button" class="button" onClick={() => setQuery(NO_FILTERS)}>
        Clear them
      </button>
    </Empty>
  );
}

function Ghosts() {
  return (
    <div class="ghosts" role="status" aria-label="Reading jobs">
      {Array.from({ length: GHOSTS }, (_, i) => (
        <span key={i} class="ghost" />
      ))}
    </div>
  );
}

const LEGEND = [
  ["held", "held by another model"],
  ["loading", "loading"],
  ["draining", "swapping"],
  ["own_queue", "own queue"],
  ["running", "running"],
] as const;

function Legend() {
  return (
    <ul class="legend bar-legend" aria-label="What the bars show, on a logarithmic scale">
      {LEGEND.map(([cause, text]) => (
        <li key={cause}>
          <span class={`key c-${cause}`} aria-hidden="true" />
          {text}
        </li>
      ))}
    </ul>
  );
}
