// The one connection that keeps the page true: read with fetch, so that a key travels as a header; tried again with
// growing pauses; closed while the page is paused, and when it has been hidden for a while.

import type { DecisionList } from "../../../src/client/wire.ts";
import type { DeltaWire } from "../../../src/client/wire-live.ts";
import type { StatusWire } from "../../../src/client/wire-status.ts";
import { ApiError, call, getJson, keyWanted } from "../api.ts";
import { Cell } from "../cell.ts";
import { setClock, stopClock } from "../clock.ts";
import { readEvents, type SseEvent } from "./sse.ts";
import { addDecisions, takeDelta, takeSnapshot } from "./state.ts";

const HIDDEN_MS = 15_000;
/** The router pings every 15 s; after three of them the line is dead, whatever the socket says. */
const SILENCE_MS = 45_000;
const SECOND_LOOK_MS = 2500;
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 15_000;

export type Connection =
  | { readonly state: "connecting" | "live" | "paused" | "hidden" }
  /** `atMs`: when it is tried again, by `performance.now()`. */
  | { readonly state: "lost"; readonly error: ApiError; readonly sinceMs: number; readonly atMs: number };

export const connection = new Cell<Connection>({ state: "connecting" });

let open: AbortController | null = null;
let retry: ReturnType<typeof setTimeout> | null = null;
let failures = 0;
let lostSinceMs: number | null = null;
let lastId: string | null = null;

/** Opens the line now, whatever it waited for. Not while paused. */
export function connect(): void {
  if (connection.value.state === "paused") return;
  stop();
  if (connection.value.state !== "lost") connection.set({ state: "connecting" });
  open = new AbortController();
  void listen(open);
}

/** Paused: closed, and nothing is fetched until it is asked for. */
export function setPaused(paused: boolean): void {
  if (paused === (connection.value.state === "paused")) return;
  stop();
  failures = 0;
  lostSinceMs = null;
  stopClock();
  connection.set({ state: paused ? "paused" : "connecting" });
  if (!paused) connect();
}

/** Once, when the page starts. */
export function startLive(): void {
  let hiding: ReturnType<typeof setTimeout> | null = null;
  document.addEventListener("visibilitychange", () => {
    if (hiding !== null) clearTimeout(hiding);
    hiding = null;
    if (connection.value.state === "paused") return;
    if (document.hidden) hiding = setTimeout(hide, HIDDEN_MS);
    else if (connection.value.state === "hidden") connect();
  });
  keyWanted.watch(() => (keyWanted.value ? stop() : connect()));
  // A page that is opened in the background waits for its reader: it would take one of the browser's six connections.
  if (document.hidden) connection.set({ state: "hidden" });
  else connect();
}

function hide(): void {
  stop();
  stopClock();
  connection.set({ state: "hidden" });
}

function stop(): void {
  open?.abort();
  open = null;
  if (retry !== null) clearTimeout(retry);
  retry = null;
}

async function listen(own: AbortController): Promise<void> {
  const silence = new Silence(() => own.abort(new ApiError("The line fell silent.", 0, "silent", null)));
  try {
    const headers: Record<string, string> = { accept: "text/event-stream" };
    if (lastId !== null) headers["last-event-id"] = lastId;
    const response = await call("v1/stream", { headers, signal: own.signal });
    if (response.body === null) throw new ApiError("The router's stream has no body.", 0, "unreachable", null);
    for await (const event of readEvents(response.body, () => silence.heard())) take(event);
    throw new ApiError("The router closed the line.", 0, "closed", null);
  } catch (error) {
    if (open === own) lost(error);
  } finally {
    silence.end();
  }
}

function take({ event, data, id }: SseEvent): void {
  if (id !== null) lastId = id;
  if (event === "snapshot") {
    const snapshot = JSON.parse(data) as StatusWire;
    setClock(snapshot.at * 1000);
    takeSnapshot(snapshot);
    isLive();
    void readDecisions();
    // Once more when what was decided meanwhile is surely written.
    setTimeout(() => connection.value.state === "live" && void readDecisions(), SECOND_LOOK_MS);
  } else if (event === "delta") {
    const delta = JSON.parse(data) as DeltaWire;
    setClock(delta.at * 1000);
    takeDelta(delta);
    isLive();
  }
}

function isLive(): void {
  failures = 0;
  lostSinceMs = null;
  if (connection.value.state !== "live") connection.set({ state: "live" });
}

/** Too many watch already: what is asked for now and then is better than nothing. */
async function readOnce(): Promise<void> {
  const snapshot = await getJson<StatusWire>("v1/status").catch(() => null);
  if (snapshot === null || connection.value.state !== "lost") return;
  setClock(snapshot.at * 1000);
  stopClock();
  takeSnapshot(snapshot);
  await readDecisions();
}

async function readDecisions(): Promise<void> {
  const page = await getJson<DecisionList>("v1/decisions?limit=50").catch(() => null);
  if (page !== null) addDecisions(page.data);
}

function lost(cause: unknown): void {
  stop();
  stopClock();
  const error =
    cause instanceof ApiError ? cause : new ApiError("The connection to the router broke.", 0, "unreachable", null);
  if (error.status === 401) return;
  const nowMs = performance.now();
  lostSinceMs ??= nowMs;
  const waitMs = error.retryAfterSeconds === null ? pauseMs(failures, Math.random()) : error.retryAfterSeconds * 1000;
  failures += 1;
  connection.set({ state: "lost", error, sinceMs: lostSinceMs, atMs: nowMs + waitMs });
  retry = setTimeout(connect, waitMs);
  if (error.status === 503) void readOnce();
}

/** 0.5, 1, 2, 4 … 15 s, less up to a third by `chance` (0 to 1), so that many pages do not come back at once. */
export function pauseMs(failed: number, chance: number): number {
  return Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** failed) * (1 - chance / 3);
}

/** Notices that nothing comes any more. */
class Silence {
  #timer: ReturnType<typeof setTimeout>;
  readonly #broken: () => void;

  constructor(broken: () => void) {
    this.#broken = broken;
    this.#timer = setTimeout(broken, SILENCE_MS);
  }

  heard(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(this.#broken, SILENCE_MS);
  }

  end(): void {
    clearTimeout(this.#timer);
  }
}
