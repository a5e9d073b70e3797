// What devices did over a stretch of time: read once from the router, then kept true by what the stream brings.

import { useEffect, useState } from "preact/hooks";
import type { DeltaWire, TimelineWire } from "../../../src/client/wire-live.ts";
import { type ApiError, getJson, withQuery } from "../api.ts";
import { useCell } from "../cell.ts";
import { nowMs } from "../clock.ts";
import { epoch, onDelta } from "./state.ts";
import { connection } from "./stream.ts";
import { withDelta } from "./timeline-merge.ts";

/** The router writes decisions a moment after they are taken: what fell between the first look and the stream is read then. */
const SECOND_LOOK_MS = 2500;
/** So many rows of the stream are put in by hand; then the router is asked again, which merges what is narrower than a pixel. */
const ROWS_BY_HAND = 400;

export interface Stretch {
  readonly fromMs: number;
  /** Null: to now, and on. */
  readonly toMs: number | null;
  /** How wide it is drawn. */
  readonly px: number;
  readonly device?: string;
}

export interface TimelineState {
  /** Null until it is read. */
  readonly timeline: TimelineWire | null;
  readonly error: ApiError | null;
}

/** Reads anew when the stretch is another one, or after a gap in the stream; what was read stays until then. */
export function useTimeline({ fromMs, toMs, px, device }: Stretch): TimelineState {
  const [state, setState] = useState<TimelineState>({ timeline: null, error: null });
  const [round, setRound] = useState(0);
  const since = useCell(epoch);
  useEffect(() => {
    if (px <= 0 || fromMs <= 0 || since === 0) return;
    const abort = new AbortController();
    let waiting: DeltaWire[] | null = [];
    let byHand = 0;
    const put = (delta: DeltaWire): void => {
      if (waiting !== null) {
        waiting.push(delta);
        return;
      }
      byHand += delta.spans.length;
      if (byHand > ROWS_BY_HAND) setRound((count) => count + 1);
      setState(({ timeline }) => ({ timeline: timeline === null ? null : withDelta(timeline, delta), error: null }));
    };
    const end = toMs === null ? onDelta(put) : () => undefined;
    const read = (): void => {
      waiting = [];
      const to = toMs ?? Math.ceil(nowMs());
      const path = withQuery("v1/timeline", { from_ms: Math.floor(fromMs), to_ms: to, px, device });
      getJson<TimelineWire>(path, abort.signal).then(
        (answer) => {
          const missed = waiting ?? [];
          waiting = null;
          setState({ timeline: missed.reduce(withDelta, answer), error: null });
        },
        (error: unknown) => {
          if (!abort.signal.aborted) setState(({ timeline }) => ({ timeline, error: error as ApiError }));
        },
      );
    };
    read();
    const again = toMs === null ? setTimeout(() => connection.value.state === "live" && read(), SECOND_LOOK_MS) : null;
    return () => {
      abort.abort();
      if (again !== null) clearTimeout(again);
      end();
    };
  }, [fromMs, toMs, px, device, since, round]);
  return state;
}
