// The filters of the jobs' list, in the address and in the API's query. Pure.

import type { WireStatus } from "../../../src/client/wire.ts";
import { titleOfCause } from "../parts/cause.ts";

export interface JobFilters {
  readonly status: string;
  readonly model: string;
  readonly band: string;
  readonly caller: string;
  readonly cause: string;
  readonly q: string;
  /** "" is newest first. */
  readonly sort: "" | "wait";
}

export const NO_FILTERS = { status: "", model: "", band: "", caller: "", cause: "", q: "" } as const;

export const STATUSES: readonly (readonly [value: "" | WireStatus, text: string])[] = [
  ["", "All"],
  ["queued", "Waiting"],
  ["in_progress", "Running"],
  ["completed", "Completed"],
  ["failed", "Failed"],
  ["cancelled", "Cancelled"],
  ["expired", "Expired"],
];

export function readFilters(query: URLSearchParams): JobFilters {
  const of = (key: keyof typeof NO_FILTERS): string => query.get(key) ?? "";
  return {
    status: of("status"),
    model: of("model"),
    band: of("band"),
    caller: of("caller"),
    cause: of("cause"),
    q: of("q"),
    sort: query.get("sort") === "wait" ? "wait" : "",
  };
}

/** The query of one page of rows. @param after The last row's id; null: the first page. */
export function pageQuery(filters: JobFilters, limit: number, after: string | null): Record<string, string | null> {
  return { view: "rows", ...filters, limit: String(limit), after };
}

/** The filters that are set, in words: `status failed, model qwen`. */
export function filterWords({ status, model, band, caller, cause, q }: JobFilters): string {
  const shown = STATUSES.find(([value]) => value === status)?.[1].toLowerCase() ?? status;
  const words = [
    status === "" ? "" : shown,
    model === "" ? "" : `model ${model}`,
    band === "" ? "" : `band ${band}`,
    caller === "" ? "" : `caller ${caller}`,
    cause === "" ? "" : `mostly “${titleOfCause(cause)}”`,
    q === "" ? "" : `“${q}”`,
  ];
  return words.filter((word) => word !== "").join(", ");
}
