// Callers of every kind at once, until their router dies: receipts with and without keys, polls, cancels, held requests
// and streams. What they saw goes into the history; what they cannot know stays out of it.

import type { Receipt } from "../../src/client/wire.ts";
import { ASYNC, ask, CHAT, chatBody, type Reply } from "../e2e/wire.ts";
import { type History, sawKey, sawResult, sawStatus } from "./http-history.ts";

export const MODELS = ["m/a", "m/b"];

/** Repeatable chance. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

export interface Load {
  readonly origin: string;
  readonly history: History;
  readonly random: () => number;
  readonly signal: AbortSignal;
  /** Ids accepted in this round, newest last. */
  readonly fresh: string[];
  readonly keysSent: string[];
}

let keys = 0;

const CALLERS = 12;

/** Resolves when every caller has noticed that its router is gone, or was told to stop. */
export async function callersOf(load: Load): Promise<void> {
  await Promise.all(Array.from({ length: CALLERS }, () => caller(load)));
}

async function caller(load: Load): Promise<void> {
  while (!load.signal.aborted) {
    try {
      await oneCall(load);
    } catch {
      // A socket that was cut tells its caller nothing.
      if (load.signal.aborted) return;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }
}

function oneCall(load: Load): Promise<void> {
  const toss = load.random();
  if (toss < 0.3) return receipt(load, null);
  if (toss < 0.5) return receipt(load, `key-${++keys}`);
  if (toss < 0.6) return held(load, `key-${++keys}`);
  if (toss < 0.65) return held(load, null);
  if (toss < 0.72) return streamed(load);
  if (toss < 0.9) return poll(load);
  return cancel(load);
}

interface Wish {
  readonly model: string;
  readonly maxTokens: number;
  readonly body: string;
}

function wish({ random }: Load, over: object = {}): Wish {
  const model = MODELS[Math.floor(random() * MODELS.length)] ?? "m/a";
  const maxTokens = 1 + Math.floor(random() * 40);
  return { model, maxTokens, body: chatBody(model, { max_tokens: maxTokens, ...over }) };
}

function keyHeaders(load: Load, key: string | null, { body }: Wish): Record<string, string> {
  if (key === null) return {};
  load.history.keys.set(key, { body, id: null });
  load.keysSent.push(key);
  return { "idempotency-key": key };
}

function note(load: Load, id: string, { model, maxTokens }: Wish, key: string | null): void {
  load.history.accepted.set(id, { model, maxTokens, key });
  load.fresh.push(id);
  if (key !== null) sawKey(load.history, key, id);
}

/** Some are too large for memory and lie in files of their own. */
const LARGE = "x".repeat(1_200_000);

async function receipt(load: Load, key: string | null): Promise<void> {
  const wanted = wish(load, load.random() < 0.04 ? { pad: LARGE } : {});
  const headers = { ...ASYNC, ...keyHeaders(load, key, wanted) };
  const reply = await ask(load.origin, CHAT, { body: wanted.body, headers });
  expectStatus(load, reply, 202);
  note(load, reply.json<Receipt>().id, wanted, key);
}

/** Without a key nothing is promised beyond the answer itself. */
async function held(load: Load, key: string | null): Promise<void> {
  const wanted = wish(load);
  const reply = await ask(load.origin, CHAT, { body: wanted.body, headers: keyHeaders(load, key, wanted) });
  expectStatus(load, reply, 200);
  const id = String(reply.headers["sir-job-id"]);
  if (key === null) return;
  note(load, id, wanted, key);
  sawStatus(load.history, id, "completed");
  sawResult(load.history, id, reply.bytes);
}

async function streamed(load: Load): Promise<void> {
  const reply = await ask(load.origin, CHAT, { body: wish(load, { stream: true }).body });
  expectStatus(load, reply, 200);
  if (!reply.text.endsWith("data: [DONE]\n\n")) load.history.violations.push("a stream ended well without [DONE]");
}

async function poll(load: Load): Promise<void> {
  const id = recent(load);
  if (id === null) return receipt(load, null);
  const reply = await ask(load.origin, `/v1/jobs/${id}`);
  expectStatus(load, reply, 200);
  const { status } = reply.json<Receipt>();
  sawStatus(load.history, id, status);
  if (status !== "completed") return;
  const result = await ask(load.origin, `/v1/jobs/${id}/result`);
  expectStatus(load, result, 200);
  sawResult(load.history, id, result.bytes);
}

async function cancel(load: Load): Promise<void> {
  const id = recent(load);
  if (id === null) return receipt(load, null);
  const reply = await ask(load.origin, `/v1/jobs/${id}/cancel`, { method: "POST" });
  expectStatus(load, reply, 200);
  const { status } = reply.json<Receipt>();
  if (status === "queued" || status === "in_progress")
    load.history.violations.push(`${id} was not cancelled: ${status}`);
  sawStatus(load.history, id, status);
}

/** Newest first, mostly: that is where races are. */
function recent({ fresh, random }: Load): string | null {
  return fresh[fresh.length - 1 - Math.floor(random() ** 3 * fresh.length)] ?? null;
}

function expectStatus(load: Load, reply: Reply, status: number): void {
  if (reply.status === status) return;
  load.history.violations.push(`expected ${status}, got ${reply.status}: ${reply.text.slice(0, 300)}`);
  throw new Error("not what was expected");
}
