// What one kind of server understands. A dialect only translates: each call is one exchange, and waiting, polling,
// holding and giving up are the business of `ModelServer`.

import { type Call, LoadError, type Member } from "../backend.ts";
import type { ServerOptions } from "./options.ts";
import type { Answer, ServerHttp } from "./server-http.ts";

/** How the server sees one model. One that is not listed is absent. */
export interface Listed {
  readonly name: string;
  /** Other names by which the server knows it. */
  readonly aliases?: readonly string[];
  readonly state: "absent" | "loading" | "ready" | "asleep" | "leaving";
  /** What an unload is asked with; empty: the name. */
  readonly ids?: readonly string[];
  /** Of an absent one: why, e.g. an exit code. */
  readonly detail?: string;
  /** Of a loaded one: why it cannot be used as it is, e.g. that it lies half in CPU memory. */
  readonly misfit?: string;
  /** 0..1 */
  readonly progress?: number;
  /** When the server means to unload it by itself; router time is not needed, wall time in ms. */
  readonly expiresAtMs?: number;
  /** What the load came to, e.g. its context length; a change means that somebody else loaded it anew. */
  readonly shape?: string;
}

export interface Request<Options> {
  readonly member: Member<Options>;
  /** What the server calls the model. */
  readonly name: string;
  readonly http: ServerHttp;
  readonly signal: AbortSignal;
}

export interface Screened {
  readonly call: Call;
  /** Null while nothing speaks against the call; else the error that the caller gets, and the server gets no whole body. */
  refusal(): object | null;
}

export interface Dialect<Options extends ServerOptions> {
  /** As it is called in messages. */
  readonly server: string;
  /** True: a load that was asked for goes on when the connection is closed, and is not listed meanwhile. */
  readonly loadsOnUnseen?: boolean;
  /** What the server has, whoever loaded it. @throws {ServerError} @throws {LoadError} it is no such server */
  list(http: ServerHttp, signal: AbortSignal, options: Options): Promise<readonly Listed[]>;
  /**
   * Has the model loaded; may resolve while it still loads.
   *
   * @param found What the server said of it just before.
   * @throws {ServerError} @throws {LoadError}
   */
  load(request: Request<Options>, found: Listed): Promise<void>;
  /** Asks for the unload; need not wait for it. One that is not loaded is no error. @throws {LoadError} it cannot be */
  unload(request: Request<Options>, found: Listed): Promise<void>;
  /** Where a caller's request goes; default: the server itself. */
  inferenceOrigin?(options: Options): string;
  /** Appended to each inference request's path, e.g. `?autoload=false`. */
  readonly query?: string;
  /** Whether a 4xx means that the server has lost the model, which is not the caller's fault. */
  disowns?(status: number, text: string): boolean;
  /** Looks at a request before it is sent. */
  screen?(call: Call, options: Options): Promise<Screened>;
  /** Called at each look at a model that is held and loaded; may mend what others changed. */
  tend?(request: Request<Options>, found: Listed, wallMs: number): Promise<string | null>;
  /** A warning, in words, about how the server is set up; asked once. */
  advise?(http: ServerHttp, signal: AbortSignal): Promise<readonly string[]>;
  /** The server's own log, newest last; absent: it has none to read. */
  logs?(http: ServerHttp, signal: AbortSignal, name: string): Promise<readonly string[]>;
}

/** In words: a server's refusal of what it was told or asked. */
export function refusalOf(server: string, what: string, { status, message }: Answer): string {
  const said = message.startsWith("status ") ? message : `${message} (status ${status})`;
  return `${server} would not ${what}: ${said}${status === 401 || status === 403 ? "; check apiKey" : ""}`;
}

/** A member of something that came as JSON; undefined when it is no object or has no such member. */
export function memberOf(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>)[key] : undefined;
}

export function textOf(value: unknown, key: string): string {
  const text = memberOf(value, key);
  return typeof text === "string" ? text : "";
}

export function numberOf(value: unknown, key: string): number | null {
  const number = memberOf(value, key);
  return typeof number === "number" ? number : null;
}

/** @throws {LoadError} when the server answers something else, so that it is probably another one. */
export function listIn(server: string, { status, json, message }: Answer, key: string | null): readonly unknown[] {
  const list = key === null ? json : memberOf(json, key);
  if (status === 200 && Array.isArray(list)) return list;
  const key401 = status === 401 || status === 403 ? "; check apiKey" : "; is baseUrl its address?";
  throw new LoadError(`${server} did not say what it has loaded: ${message}${key401}`);
}
