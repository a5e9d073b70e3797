// The jobs' list as a hook: reads pages and follows the stream. What the stream does not say is read again, at most once in
// two seconds.

import { useEffect, useRef, useState } from "preact/hooks";
import type { JobRowList } from "../../../src/client/wire-live.ts";
import type { ModelStatusWire } from "../../../src/client/wire-status.ts";
import { ApiError, getJson, withQuery } from "../api.ts";
import { useCell } from "../cell.ts";
import { nowMs } from "../clock.ts";
import { epoch, onDelta, status } from "../live/state.ts";
import { connection } from "../live/stream.ts";
import { type JobFilters, pageQuery } from "./filters.ts";
import { type Causes, mustBeRead, type News, told } from "./live-rows.ts";
import { appended, firstPage, NO_ROWS, type Rows, refreshed } from "./rows.ts";

const PAGE = 50;
const REREAD_MS = 2_000;
/** A minute of frames; after a read that takes longer there is another. */
const MISSED_MAX = 240;
/** So many rows are read again; those further down follow the stream alone. */
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
  // What the stream says while a page is on its way comes after that page, whatever moment the page is of.
  const missed = useRef<News[] | null>(null);
  // Something is to be read once that page has come.
  const owed = useRef(false);
  const gap = useCell(epoch);
  const put = (next: Rows): void => {
    held.current = next;
    setRows(next);
  };
  const ask = (after: string | null, take: (page: JobRowList) => Rows, limit = PAGE): void => {
    busy.current?.abort();
    const own = new AbortController();
    busy.current = own;
    missed.current = [];
    getJson<JobRowList>(withQuery("v1/jobs", pageQuery(filters, limit, after)), own.signal).then(
      (page) => {
        const since = missed.current ?? [];
        missed.current = null;
        put(since.reduce((all, news) => told(all, news, filters), take(page)));
        setState("ready");
        if (owed.current) again();
      },
      (error: unknown) => {
        if (own.signal.aborted) return;
        missed.current = null;
        setState(error instanceof ApiError ? error : new ApiError(String(error), 0, "unknown", null));
      },
    );
  };
  const anew = (): void => {
    setState("loading");
    owed.current = false;
    ask(null, (page) => firstPage(page, nowMs()));
  };
  const more = (): void => {
    setState("loading");
    ask(held.current.after, (page) => appended(held.current, page, nowMs()));
  };
  const again = (): void => {
    owed.current = false;
    const limit = Math.max(PAGE, Math.min(REREAD_ROWS, held.current.list.length));
    ask(null, (page) => refreshed(held.current, page, nowMs()), limit);
  };
  const readSoon = (): void => {
    if (missed.current === null) again();
    else owed.current = true;
  };
  useEffect(() => {
    put(NO_ROWS);
    anew();
    return () => busy.current?.abort();
  }, [key]);
  useFollowing(key, gap, (news, more) => {
    const rows = held.current;
    const unclear = more > 0 || mustBeRead(rows, news.jobs);
    if (missed.current !== null && missed.current.push(news) > MISSED_MAX) {
      missed.current.shift();
      owed.current = true;
    }
    const next = told(rows, news, filters);
    if (next !== rows) put(next);
    return unclear ? readSoon : null;
  });
  useEffect(() => {
    if (gap < 2) return;
    if (held.current.list.length > 0) again();
    else anew();
  }, [gap]);
  return { rows, state, more, anew };
}

/** @param take Returns what is to be done soon, once for all frames until then; null: nothing. */
function useFollowing(key: string, gap: number, take: (news: News, more: number) => (() => void) | null): void {
  const latest = useRef(take);
  latest.current = take;
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | null = null;
    const causes = new Map<string, string>();
    noteCauses(causes, status.value?.models ?? []);
    const end = onDelta(({ jobs, more, models, at }) => {
      const changed = noteCauses(causes, models);
      const soon = latest.current({ jobs, atMs: at * 1000, changed, causes }, more);
      if (soon === null || timer !== null) return;
      timer = setTimeout(() => {
        timer = null;
        if (connection.value.state === "live") soon();
      }, REREAD_MS);
    });
    return () => {
      end();
      if (timer !== null) clearTimeout(timer);
    };
  }, [key, gap]);
}

/** @returns those that are others now. */
function noteCauses(causes: Map<string, string>, models: readonly ModelStatusWire[]): Causes {
  const changed = new Map<string, string>();
  for (const { id, waiting } of models) {
    if (waiting === null) causes.delete(id);
    else if (causes.get(id) !== waiting.cause) {
      causes.set(id, waiting.cause);
      changed.set(id, waiting.cause);
    }
  }
  return changed;
}
