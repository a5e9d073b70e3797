// vLLM's own verbs for sleep and wake (its development mode). None of them is believed by its status alone.

import type { Clock } from "../../domain/clock.ts";
import { LoadError } from "../backend.ts";
import { type Answer, type Asked, ask, type Probing } from "../probe.ts";

const QUICK_MS = 2_000;

export interface SleepTarget {
  readonly origin: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly healthPath: string;
}

/** What is asked, by when, and by whom it can be given up. */
export interface Asking {
  readonly probing: Probing;
  readonly untilMs: number;
  readonly signal: AbortSignal;
}

/** Null: it does not say. */
export async function isSleeping(target: SleepTarget, probing: Probing, signal: AbortSignal): Promise<boolean | null> {
  const answer = await ask(target, probing, { path: "/is_sleeping", limitMs: QUICK_MS }, signal);
  if (answer === null || answer.status !== 200) return null;
  try {
    const { is_sleeping: asleep } = JSON.parse(answer.text) as { is_sleeping?: unknown };
    return typeof asleep === "boolean" ? asleep : null;
  } catch {
    return null;
  }
}

/** Once it has answered a load's probe: whether it can sleep at all. @throws {LoadError} */
export async function checkSleeps(target: SleepTarget, probing: Probing, signal: AbortSignal): Promise<void> {
  if ((await isSleeping(target, probing, signal)) !== null || signal.aborted) return;
  throw new LoadError(
    "the engine does not answer /is_sleeping: start it with --enable-sleep-mode and VLLM_SERVER_DEV_MODE=1, or use the driver process",
  );
}

/** Waits for what still runs inside the engine. @throws {LoadError} when it is not known to be asleep and well */
export async function fallAsleep(target: SleepTarget, level: 1 | 2, asking: Asking): Promise<void> {
  await post(target, `/sleep?level=${level}&mode=wait`, asking);
  const { probing, signal } = asking;
  const asleep = await isSleeping(target, probing, signal);
  if (asleep !== true) throw new LoadError("it answered /sleep, but does not say that it sleeps");
  const health = await ask(target, probing, { path: target.healthPath, limitMs: QUICK_MS }, signal);
  if (health?.status !== 200) throw new LoadError("it fell asleep, and is not healthy any more");
}

/** Level 2 gets its weights back step by step. @throws {LoadError} when it is not known to be awake */
export async function wakeUp(target: SleepTarget, level: 1 | 2, asking: Asking): Promise<void> {
  if (level === 1) await post(target, "/wake_up", asking);
  else {
    await post(target, "/wake_up?tags=weights", asking);
    await post(target, "/collective_rpc", asking, { method: "reload_weights" });
    await post(target, "/wake_up?tags=kv_cache", asking);
    await post(target, "/reset_prefix_cache", asking);
  }
  if ((await isSleeping(target, asking.probing, asking.signal)) !== false) {
    throw new LoadError("it answered /wake_up, but does not say that it is awake");
  }
}

async function post(target: SleepTarget, path: string, asking: Asking, body?: object): Promise<void> {
  const limitMs = leftMs(asking.probing.clock, asking.untilMs);
  const asked: Asked = { path, method: "POST", limitMs, ...(body === undefined ? {} : { body }) };
  const answer: Answer | null = await ask(target, asking.probing, asked, asking.signal);
  const verb = path.split("?", 1)[0];
  if (answer === null) {
    if (asking.signal.aborted) throw new LoadError("the load was given up");
    throw new LoadError(`no answer to ${verb} in time, or the connection broke`);
  }
  if (answer.status >= 300) throw new LoadError(`it answered ${verb} with ${answer.status}`);
}

function leftMs(clock: Clock, untilMs: number): number {
  return Math.max(0, untilMs - clock.nowMs());
}
