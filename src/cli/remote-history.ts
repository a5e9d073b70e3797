// A router's history over its operators' route, page by page.

import type { History, PastPage, PastQuery, Range } from "../store/history.ts";
import type { RouterClient } from "./router-client.ts";

/** More than the route gives is never asked for. */
const PAGE = 1_000;

interface Answer {
  readonly data: readonly unknown[];
  readonly next: string | null;
}

export function remoteHistory(router: Pick<RouterClient, "ask" | "url">): History {
  const ask = async (part: string, query: Readonly<Record<string, string | number | null>>): Promise<Answer> => {
    const given = Object.entries(query).filter(([, value]) => value !== null);
    const text = new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)]));
    const answer = (await router.ask("GET", `/admin/history/${part}?${text}`)) as Answer;
    return { data: answer.data.map(camelKeys), next: answer.next };
  };
  const page =
    <T>(part: string) =>
    async ({ fromMs, toMs, after, limit }: PastQuery): Promise<PastPage<T>> =>
      (await ask(part, { from_ms: fromMs, to_ms: toMs, after, limit: Math.min(limit, PAGE) })) as PastPage<T>;
  const list =
    <T>(part: string) =>
    async ({ fromMs, toMs }: Range): Promise<readonly T[]> =>
      (await ask(part, { from_ms: fromMs, to_ms: toMs })).data as readonly T[];
  return {
    jobs: page("jobs"),
    loads: page("loads"),
    moves: page("moves"),
    shadows: page("shadows"),
    setups: list("setups"),
    downtimes: list("downtimes"),
    pauses: list("pauses"),
    span: async () => ((await ask("span", {})).data[0] as Range | undefined) ?? null,
    tunings: async (limit) => (await ask("tunings", { limit })).data as never,
  };
}

/** Rows are snake_case on the wire; what lies inside of them (a setup, models' names) is left as it is. */
function camelKeys(row: unknown): unknown {
  if (typeof row !== "object" || row === null) return row;
  const camel = (key: string): string => key.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
  return Object.fromEntries(
    Object.entries(row).map(([key, value]) => [
      camel(key),
      key === "runs" ? (value as unknown[]).map(camelKeys) : value,
    ]),
  );
}
