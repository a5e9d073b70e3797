// Runs what is wished for: one replay at a time, the one before is cancelled, somebody else's is waited for. A result that
// the router still has is not computed again.

import { useEffect, useState } from "preact/hooks";
import type { ReplayChoicesWire, ReplayWire } from "../../../src/client/wire-live.ts";
import { ApiError, call, getJson, postJson } from "../api.ts";
import { requestOf, type Wish } from "./wish.ts";

const DEBOUNCE_MS = 250;
const POLL_MS = 300;

export type RunState =
  | { readonly at: "running"; readonly progress: number }
  /** Another's replay runs; it is asked again. */
  | { readonly at: "busy" }
  | { readonly at: "done" }
  | { readonly at: "stopped" }
  | { readonly at: "refused"; readonly error: ApiError };

export interface Run {
  readonly state: RunState;
  /** The last that was completed, also while another runs. */
  readonly result: ReplayWire | null;
  cancel(): void;
  again(): void;
}

/** @param wish Null: nothing yet. */
export function useRun(wish: Wish | null, choices: ReplayChoicesWire | null): Run {
  const [state, setState] = useState<RunState>({ at: "running", progress: 0 });
  const [result, setResult] = useState<ReplayWire | null>(null);
  const [round, setRound] = useState(0);
  const [stop, setStop] = useState<() => void>(() => () => undefined);
  const key = wish === null ? null : JSON.stringify(requestOf(wish));
  useEffect(() => {
    if (wish === null) return;
    const leave = new AbortController();
    setStop(() => () => {
      leave.abort();
      setState({ at: "stopped" });
    });
    setState({ at: "running", progress: 0 });
    const timer = setTimeout(() => {
      follow(wish, round === 0 ? choices : null, leave.signal, setState).then(
        (replay) => {
          setResult(replay);
          setState({ at: "done" });
        },
        (error: unknown) => {
          if (leave.signal.aborted) return;
          setState({
            at: "refused",
            error: error instanceof ApiError ? error : new ApiError(String(error), 0, "", null),
          });
        },
      );
    }, DEBOUNCE_MS);
    return () => {
      clearTimeout(timer);
      leave.abort();
    };
  }, [key, round]);
  return { state, result, cancel: stop, again: () => setRound((count) => count + 1) };
}

/** @throws {ApiError} when it is refused or fails; an abort cancels it at the router, too */
async function follow(
  wish: Wish,
  choices: ReplayChoicesWire | null,
  signal: AbortSignal,
  tell: (state: RunState) => void,
): Promise<ReplayWire> {
  const kept = choices === null ? null : keptFor(wish, choices);
  if (kept !== null) {
    const known = await getJson<ReplayWire>(`v1/replays/${kept}`, signal).catch(() => null);
    if (known?.status === "completed") return known;
  }
  let replay = await started(wish, signal, tell);
  const path = `v1/replays/${replay.id}`;
  const forget = (): void => void call(path, { method: "DELETE" }).catch(() => undefined);
  signal.addEventListener("abort", forget, { once: true });
  if (signal.aborted) forget();
  while (replay.status === "running") {
    tell({ at: "running", progress: replay.progress });
    await pause(POLL_MS, signal);
    replay = await getJson<ReplayWire>(path, signal);
  }
  signal.removeEventListener("abort", forget);
  if (replay.status === "completed") return replay;
  const words = replay.status === "cancelled" ? "It was cancelled elsewhere." : (replay.error ?? "It failed.");
  throw new ApiError(words, 0, `replay_${replay.status}`, null);
}

async function started(wish: Wish, signal: AbortSignal, tell: (state: RunState) => void): Promise<ReplayWire> {
  for (;;) {
    try {
      // Not given up with the signal: what was started must be known to be cancelled.
      return await postJson<ReplayWire>("v1/replays", requestOf(wish));
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== "replay_running" || signal.aborted) throw error;
      tell({ at: "busy" });
      await pause((error.retryAfterSeconds ?? 2) * 1000, signal);
    }
  }
}

/** Of the router's kept results, the one that answers this very wish. */
function keptFor(wish: Wish, { replays }: ReplayChoicesWire): string | null {
  const asked = requestOf(wish);
  const found = replays.find(
    (each) =>
      each.status === "completed" &&
      each.from_ms === asked.from_ms &&
      each.to_ms === asked.to_ms &&
      (each.policy ?? undefined) === asked.policy &&
      JSON.stringify(each.set) === JSON.stringify(asked.set),
  );
  return found?.id ?? null;
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener(
      "abort",
      () => {
        clearTimeout(timer);
        reject(signal.reason as Error);
      },
      { once: true },
    );
  });
}
