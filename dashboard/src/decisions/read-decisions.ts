// The decisions' list as a hook: pages along a key, and what the stream brings. New ones wait while the reader has
// scrolled; a stay that goes on is the same entry with more looks.

import { useEffect, useRef, useState } from "preact/hooks";
import type { DecisionList, DecisionWire } from "../../../src/client/wire.ts";
import { ApiError, getJson, withQuery } from "../api.ts";
import { useCell } from "../cell.ts";
import { decisions, epoch } from "../live/state.ts";
import { type DecisionFilters, decisionQuery, isShown } from "./filters.ts";

export interface DecisionsRead {
  readonly list: readonly DecisionWire[];
  /** New ones that are not shown yet. */
  readonly fresh: number;
  readonly hasMore: boolean;
  readonly state: "loading" | "ready" | ApiError;
  more(): void;
  /** Shows the new ones. */
  show(): void;
}

interface Held {
  readonly list: readonly DecisionWire[];
  readonly hasMore: boolean;
}

/** @param mayMove Whether new ones may be put on top at once. */
export function useDecisions(filters: DecisionFilters, mayMove: () => boolean): DecisionsRead {
  const key = JSON.stringify(filters);
  const [held, setHeld] = useState<Held>({ list: [], hasMore: false });
  const [state, setState] = useState<DecisionsRead["state"]>("loading");
  const live = useCell(decisions);
  const gap = useCell(epoch);
  const leave = useRef<AbortController | null>(null);
  const ask = (after: string | null): void => {
    leave.current?.abort();
    const own = new AbortController();
    leave.current = own;
    setState("loading");
    getJson<DecisionList>(withQuery("v1/decisions", decisionQuery(filters, after)), own.signal).then(
      (page) => {
        const data = page.data.filter((decision) => isShown(filters, decision));
        setHeld((last) => ({ list: after === null ? data : merged(last.list, data), hasMore: page.has_more }));
        setState("ready");
      },
      (error: unknown) => {
        if (own.signal.aborted) return;
        setState(error instanceof ApiError ? error : new ApiError(String(error), 0, "unknown", null));
      },
    );
  };
  useEffect(() => {
    setHeld({ list: [], hasMore: false });
    ask(null);
    return () => leave.current?.abort();
  }, [key]);
  useEffect(() => {
    if (gap > 1 && mayMove()) ask(null);
  }, [gap]);
  const newest = held.list[0];
  const news = live.filter(
    (each) => isShown(filters, each) && (newest === undefined || isLater(each, newest)) && state === "ready",
  );
  const list = updated(held.list, live);
  const show = (): void => setHeld((last) => ({ ...last, list: merged(last.list, news) }));
  useEffect(() => {
    if (news.length > 0 && mayMove()) show();
  }, [news.length, newest?.id]);
  return {
    list,
    fresh: news.length,
    hasMore: held.hasMore,
    state,
    more: () => ask(held.list.at(-1)?.id ?? null),
    show,
  };
}

const isLater = (a: DecisionWire, b: DecisionWire): boolean => a.at > b.at || (a.at === b.at && a.id > b.id);

/** Newest first, each once. */
export function merged(list: readonly DecisionWire[], more: readonly DecisionWire[]): readonly DecisionWire[] {
  const byId = new Map([...list, ...more].map((decision) => [decision.id, decision]));
  return [...byId.values()].sort((a, b) => (isLater(a, b) ? -1 : 1));
}

/** Entries that the stream has told of again, as it told them. */
function updated(list: readonly DecisionWire[], live: readonly DecisionWire[]): readonly DecisionWire[] {
  const byId = new Map(live.map((decision) => [decision.id, decision]));
  return list.map((each) => {
    const told = byId.get(each.id);
    return told !== undefined && told.times > each.times ? told : each;
  });
}
