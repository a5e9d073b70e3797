// The jobs' list as a hook: reads pages, follows the stream, re-reads what changed at most once in two seconds.

import { useEffect, useRef, useState } from "preact/hooks";
import type { JobRowList } from "../../../src/client/wire-live.ts";
import { ApiError, getJson, withQuery } from "../api.ts";
import { useCell } from "../cell.ts";
import { nowMs } from "../clock.ts";
import { epoch, onDelta } from "../live/state.ts";
import { connection } from "../live/stream.ts";
import { type JobFilters, mayMatch, pageQuery } from "./filters.ts";
import { appended, firstPage, NO_ROWS, type Rows, refreshed, touched } from "./rows.ts";

const PAGE = 50;
const REREAD_MS = 2_000;
/** So many rows are followed by reading them again; those further down follow the stream alone. */
const REREAD_ROWS = 100;

export interface RowsRead {
  readonly rows: Rows;
  readonly state: "loading" | "ready" | ApiError;
  /** The next page. */
  more(): void;
  /** The first page anew, with what is new. */
  anew(): void;
}

export function useRows(filters: JobFilters): RowsRead {
  const key = JSON.stringify(filters);
  const [rows, setRows] = useState<Rows>(NO_ROWS);
  const [state, setState] = useState<RowsRead["state"]>("loading");
  const held = useRef(rows);
  const busy = useRef<AbortController | null>(null);
  const gap = useCell(epoch);
  const put = (next: Rows): void => {
    held.current = next;
    setRows(next);
  };
  const ask = (after: string | null, take: (page: JobRowList) => Rows, limit = PAGE): void => {
    busy.current?.abort();
    const own = new AbortController();
    busy.current = own;
    getJson<JobRowList>(withQuery("v1/jobs", pageQuery(filters, limit, after)), own.signal).then(
      (page) => {
        put(take(page));
        setState("ready");
      },
      (error: unknown) => {
        if (own.signal.aborted) return;
        setState(error instanceof ApiError ? error : new ApiError(String(error), 0, "unknown", null));
      },
    );
  };
  const anew = (): void => {
    setState("loading");
    ask(null, (page) => firstPage(page, nowMs()));
  };
  const more = (): void => {
    setState("loading");
    ask(held.current.after, (page) => appended(held.current, page, nowMs()));
  };
  const again = (): void => {
    const limit = Math.max(PAGE, Math.min(REREAD_ROWS, held.current.list.length));
    ask(null, (page) => refreshed(held.current, page, nowMs()), limit);
  };
  useEffect(() => {
    put(NO_ROWS);
    anew();
    return () => busy.current?.abort();
  }, [key]);
  useFollowing(filters, key, { look: () => held.current, put, again: () => state !== "loading" && again() });
  useEffect(() => {
    if (gap < 2) return;
    if (held.current.list.length > 0) again();
    else anew();
  }, [gap]);
  return { rows, state, more, anew };
}

interface Following {
  look(): Rows;
  put(rows: Rows): void;
  again(): void;
}

function useFollowing(filters: JobFilters, key: string, following: Following): void {
  const latest = useRef(following);
  latest.current = following;
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | null = null;
    const end = onDelta(({ jobs, more }) => {
      if (jobs.length === 0 && more === 0) return;
      const { look, put } = latest.current;
      const before = look();
      const after = touched(before, jobs);
      if (after !== before) put(after);
      const matters = after !== before || more > 0 || jobs.some((job) => mayMatch(filters, job));
      if (!matters || timer !== null) return;
      timer = setTimeout(() => {
        timer = null;
        if (connection.value.state === "live") latest.current.again();
      }, REREAD_MS);
    });
    return () => {
      end();
      if (timer !== null) clearTimeout(timer);
    };
  }, [key]);
}
