// What the HTTP side is given, and what each request carries while it is answered.

import type { IncomingMessage, ServerResponse } from "node:http";
import type { Context } from "hono";
import type { BatchDesk } from "../batches/desk.ts";
import type { FileDesk } from "../batches/files.ts";
import type { Clock } from "../domain/clock.ts";
import type { CallerId, IdSource, JobId, ModelName } from "../domain/ids.ts";
import type { EngineControl, TunerControl } from "../engine/control.ts";
import type { Intake } from "../intake/intake.ts";
import type { Poll } from "../intake/poll.ts";
import type { Listener } from "../live/audience.ts";
import type { LiveHub } from "../live/hub.ts";
import type { Store } from "../store/store.ts";
import type { Closing } from "./closing.ts";
import type { Caller, Keyring } from "./keyring.ts";
import type { ReplayDesk } from "./replays.ts";
import type { PassingResponses } from "./responses/passing.ts";

export interface HttpSettings {
  /** Longest hold of an answer that is asked for without `Prefer`. */
  readonly holdMs: number;
  /** After the hold: a redirect to the result. False: the hold goes on. */
  readonly redirect: boolean;
  /** How long a job whose synchronous caller left keeps its place, if that caller can come back. */
  readonly orphanMs: number;
}

export interface MetricsSource {
  readonly contentType: string;
  text(live?: { readonly watching: number; readonly withheldTotal: number }): Promise<string>;
}

/** For the log: never a body, a key or a header. */
export type HttpEvent =
  | {
      readonly type: "http.request";
      readonly requestId: string;
      readonly method: string;
      /** The route's pattern, not the path; null when no route matched. */
      readonly route: string | null;
      /** 499: the caller left before it was answered. */
      readonly status: number;
      /** Until the answer's headers. */
      readonly tookMs: number;
      readonly job: JobId | null;
      /** The key's name; null where there are no keys, or none was shown. */
      readonly caller: CallerId | null;
    }
  | { readonly type: "http.error"; readonly requestId: string; readonly error: unknown }
  | { readonly type: "http.dropped"; readonly requestId: string; readonly reason: "stalled" | "overflow" }
  /** Readers of the live stream take too little; at most once a minute. */
  | { readonly type: "stream.withheld"; readonly frames: number; readonly readers: number }
  | {
      readonly type: "http.denied";
      readonly requestId: string;
      readonly reason: "missing" | "unknown";
      /** False: not for the log, which hears of one refusal a minute. */
      readonly told: boolean;
      /** How many were not told of since the last that was. */
      readonly silenced: number;
    };

export interface HttpDeps {
  /** Of this run of the router; absent: not known. */
  readonly boot?: string;
  /** Tells of everything that happens from now on. Absent: streams show what changes in the router's state, and no jobs. */
  readonly watch?: (listener: Listener) => void;
  readonly intake: Intake;
  readonly engine: EngineControl;
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly settings: HttpSettings;
  /** A stored body that lies in a file. */
  openBody(uri: string): AsyncIterable<Uint8Array>;
  readonly version?: string;
  /** The driver that runs a model; null: it is not configured. Absent: not known. */
  readonly driverOf?: (model: ModelName) => string | null;
  /** Where the built dashboard lies. Absent: where the build puts it. */
  readonly dashboardFolder?: string;
  readonly metrics?: MetricsSource;
  /** Absent: tuned settings are refused. */
  readonly tuner?: TunerControl;
  /** Absent: nothing is replayed here. */
  readonly replays?: ReplayDesk;
  /** Absent: there are no files. */
  readonly files?: FileDesk;
  /** Absent: there are no batches. */
  readonly batches?: BatchDesk;
  readonly log?: (event: HttpEvent) => void;
  /** Absent, as without any key: everybody is let in. */
  readonly keys?: Keyring;
  /** Absent: never closing, as in most tests. */
  readonly closing?: Closing;
}

/** What every route works with. */
export interface HttpWorld extends HttpDeps {
  readonly poll: Poll;
  readonly passing: PassingResponses;
  readonly live: LiveHub;
}

export interface HttpEnv {
  /** Node's own objects when a socket is behind the request. */
  Bindings: { readonly incoming?: IncomingMessage; readonly outgoing?: ServerResponse };
  Variables: {
    requestId: string;
    route: string | null;
    job: JobId | null;
    /** Null: there are no keys, or none was shown where none is wanted. */
    caller: Caller | null;
  };
}

export type Call = Context<HttpEnv>;

/** Node's objects, or nothing when the app was called without a socket. */
export function socketOf(c: Call): HttpEnv["Bindings"] {
  return (c.env as HttpEnv["Bindings"] | undefined) ?? {};
}

/**
 * Calls `done` once the socket has taken the answer whole; at once when there is no socket. Node says `finish` also when
 * the connection broke with bytes still to be written, so the socket is asked too.
 */
export function onDelivered(c: Call, done: () => void): void {
  const { outgoing } = socketOf(c);
  const socket = outgoing?.socket;
  if (outgoing === undefined) done();
  else if (socket) outgoing.once("finish", () => (socket.destroyed ? undefined : done()));
}
