// What `sir top` reads besides the stream: what lay before it began, and the jobs with their waits.

import type { DecisionList } from "../client/wire.ts";
import type { JobRowList, TimelineWire } from "../client/wire-live.ts";
import type { RouterClient } from "./router-client.ts";
import { type TopState, takeDecisions } from "./top-state.ts";

const PIXELS = "200";
const DECISIONS = 50;
const MOST_JOBS = 50;

/** A router or a key that does not tell leaves it blank. */
export async function readPast(router: RouterClient, state: TopState): Promise<void> {
  const toMs = Math.round(state.status.at * 1_000);
  const asked = { from_ms: String(toMs - state.windowMs), to_ms: String(toMs), px: PIXELS };
  const [past, decided] = await Promise.allSettled([
    router.ask("GET", `/v1/timeline?${new URLSearchParams(asked)}`),
    router.ask("GET", `/v1/decisions?limit=${DECISIONS}`),
  ]);
  if (past.status === "fulfilled") state.spans = [...(past.value as TimelineWire).spans];
  if (decided.status === "fulfilled") takeDecisions(state, (decided.value as DecisionList).data);
}

/** What runs first, then what waited longest. */
export async function readJobs(router: RouterClient, state: TopState): Promise<void> {
  const query = `view=rows&status=queued,in_progress&limit=${MOST_JOBS}`;
  const [rows] = await Promise.allSettled([router.ask("GET", `/v1/jobs?${query}`)]);
  if (rows.status === "rejected") return;
  const place = (status: string): number => (status === "in_progress" ? 0 : 1);
  const { data } = rows.value as JobRowList;
  state.jobs = data.toSorted((a, b) => place(a.status) - place(b.status) || b.wait_ms - a.wait_ms);
}
