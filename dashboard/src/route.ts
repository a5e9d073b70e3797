// Where the reader is: `#/jobs/job_1?status=queued` as a path and a query. The hash is written by links and by
// `setQuery`, and read in one place, so that every view is an address that can be passed on.

import { Cell, useCell } from "./cell.ts";

export interface Route {
  /** Decoded segments; empty on the first page. */
  readonly path: readonly string[];
  readonly query: URLSearchParams;
}

export const route = new Cell<Route>(parseHash(location.hash));

addEventListener("hashchange", () => route.set(parseHash(location.hash)));

export function useRoute(): Route {
  return useCell(route);
}

export function parseHash(hash: string): Route {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?", 2);
  return { path: path.split("/").filter(Boolean).map(decoded), query: new URLSearchParams(query) };
}

/** An address within the page; segments may hold anything. */
export function href(path: readonly string[], query: Readonly<Record<string, string>> = {}): string {
  const search = new URLSearchParams(query).toString();
  return `#/${path.map(encodeURIComponent).join("/")}${search === "" ? "" : `?${search}`}`;
}

/** Changes keys of the query in place: null or "" removes one. Leaves no entry in the history. */
export function setQuery(changes: Readonly<Record<string, string | null>>): void {
  const { path, query } = route.value;
  const next = new URLSearchParams(query);
  for (const [key, value] of Object.entries(changes)) {
    if (value === null || value === "") next.delete(key);
    else next.set(key, value);
  }
  const hash = href(path, Object.fromEntries(next));
  history.replaceState(null, "", hash);
  route.set(parseHash(hash));
}

/** Goes to another place, as a link does. */
export function goTo(hash: string): void {
  location.hash = hash;
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
