// What the page of a job reads: its explanation, and its row of the list. Neither is a poll: looking at a job must not
// keep it alive. While it lives both are read again when the stream names it, and every two seconds because it waits.

import { useEffect, useRef, useState } from "preact/hooks";
import type { ExplanationWire } from "../../../src/client/wire-explain.ts";
import type { JobRow, JobRowList } from "../../../src/client/wire-live.ts";
import type { ApiError } from "../api.ts";
import { withQuery } from "../api.ts";
import { useCell } from "../cell.ts";
import { epoch, onDelta } from "../live/state.ts";
import { connection } from "../live/stream.ts";
import { useLoaded } from "../parts/loaded.ts";

const EVERY_MS = 2_000;

export interface JobRead {
  readonly explanation: ExplanationWire | null;
  /** Null until it is read, and where the list does not have it. */
  readonly row: JobRow | null;
  readonly error: ApiError | null;
  reload(): void;
}

export function useJob(id: string): JobRead {
  const [version, setVersion] = useState(0);
  const gap = useCell(epoch);
  const path = `v1/jobs/${encodeURIComponent(id)}/explain`;
  const told = useLoaded<ExplanationWire>(path, version + gap * 1_000_000);
  const listed = useLoaded<JobRowList>(
    withQuery("v1/jobs", { view: "rows", q: id, limit: 1 }),
    version + gap * 1_000_000,
  );
  const live = told.data?.final === false;
  const alive = useRef(live);
  alive.current = live;
  useEffect(() => {
    const look = (): void => {
      if (alive.current && connection.value.state === "live" && !document.hidden) setVersion((count) => count + 1);
    };
    const timer = setInterval(look, EVERY_MS);
    const end = onDelta(({ jobs }) => {
      if (jobs.some((job) => job.id === id)) look();
    });
    return () => {
      clearInterval(timer);
      end();
    };
  }, [id]);
  const row = listed.data?.data.find((each) => each.id === id) ?? null;
  return { explanation: told.data, row, error: told.error, reload: told.reload };
}
