// A driver's start and stop, bounded: one that does not answer is taken for failed, never waited for without end.

import { type Backend, LoadError, type LoadProgress, type Placement } from "../backends/backend.ts";
import type { Clock } from "../domain/clock.ts";
import type { LoadOutcome, LoadTier } from "../domain/event.ts";
import type { Residency } from "./state.ts";

/** A driver that has not answered so long after it should have is taken for stuck. */
const DRIVER_SLACK_MS = 60_000;

export interface Start {
  readonly placement: Placement;
  readonly report: (progress: LoadProgress) => void;
  /** Nobody wants the model any more. */
  readonly calledOff: AbortSignal;
  readonly deadlineMs: number;
  readonly clock: Clock;
}

export type Started =
  | { readonly outcome: "ready"; readonly endpoint: string; readonly tier: LoadTier; readonly detail: null }
  | { readonly outcome: Exclude<LoadOutcome, "ready">; readonly detail: string | null };

export async function startWithin(backend: Backend, start: Start): Promise<Started> {
  const { placement, report, calledOff, deadlineMs, clock } = start;
  const overdue = new AbortController();
  const signal = AbortSignal.any([calledOff, overdue.signal]);
  const { gone, giveUp } = patience("The driver did not answer.");
  const deadline = clock.at(clock.nowMs() + deadlineMs, () => overdue.abort());
  let slack: { cancel(): void } | null = null;
  const onAbort = (): void => {
    slack = clock.at(clock.nowMs() + DRIVER_SLACK_MS, giveUp);
  };
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    const { endpoint, tier = "cold" } = await Promise.race([backend.start(placement, report, signal), gone]);
    return { outcome: "ready", endpoint, tier, detail: null };
  } catch (error) {
    if (calledOff.aborted) return { outcome: "abandoned", detail: null };
    if (!overdue.signal.aborted) return { outcome: "failed", detail: wordsOf(error) };
    return { outcome: "timeout", detail: `Not ready after ${Math.round(deadlineMs / 1000)} s. ${wordsOf(error)}` };
  } finally {
    signal.removeEventListener("abort", onAbort);
    deadline.cancel();
    (slack as { cancel(): void } | null)?.cancel();
  }
}

/** `held`: it would not stop, and its memory is still taken. */
export async function stopWithin(
  resident: Pick<Residency, "instance" | "backend">,
  graceMs: number,
  clock: Clock,
): Promise<{ memory: "free" | "unknown" } | { memory: "held"; detail: string }> {
  const limit = new AbortController();
  const { gone, giveUp } = patience("the driver did not answer");
  const timer = clock.at(clock.nowMs() + graceMs + DRIVER_SLACK_MS, () => {
    limit.abort();
    giveUp();
  });
  try {
    return await Promise.race([resident.backend.stop(resident.instance, graceMs, limit.signal), gone]);
  } catch (error) {
    return { memory: "held", detail: wordsOf(error) };
  } finally {
    timer.cancel();
  }
}

function patience(words: string): { gone: Promise<never>; giveUp(): void } {
  let giveUp = (): void => undefined;
  const gone = new Promise<never>((_, reject) => {
    giveUp = () => reject(new LoadError(words));
  });
  gone.catch(() => undefined);
  return { gone, giveUp: () => giveUp() };
}

function wordsOf(error: unknown): string {
  if (error instanceof LoadError) return [error.message, ...error.logTail].join("\n");
  return error instanceof Error ? error.message : String(error);
}
