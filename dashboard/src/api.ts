// Calls of the router's API, relative to where the page lies, so that it works behind a proxy at any path. The key is
// asked for once, kept for this tab alone, and sent as a header: never in an address.

import type { ErrorBody } from "../../src/client/wire.ts";
import { Cell } from "./cell.ts";

const KEY = "sir-key";

/** What the router refused, or why it could not be asked. */
export class ApiError extends Error {
  /** 0: no answer came. */
  readonly status: number;
  readonly code: string;
  readonly retryAfterSeconds: number | null;

  constructor(message: string, status: number, code: string, retryAfterSeconds: number | null) {
    super(message);
    this.status = status;
    this.code = code;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** True: the router wants a key, or another one than it was given. */
export const keyWanted = new Cell(false);

const apiRoot = new URL("../", document.baseURI);

/** The router's address as a caller would write it, without a slash at its end. */
export const origin = apiRoot.href.replace(/\/$/, "");

export function giveKey(key: string): void {
  sessionStorage.setItem(KEY, key);
  keyWanted.set(false);
}

export function hasKey(): boolean {
  return sessionStorage.getItem(KEY) !== null;
}

/**
 * Asks `path` (`v1/status`); the answer's status is 2xx.
 * @throws {ApiError} else; an abort is thrown as it comes.
 */
export async function call(path: string, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers);
  const key = sessionStorage.getItem(KEY);
  if (key !== null) headers.set("authorization", `Bearer ${key}`);
  const response = await fetch(new URL(path, apiRoot), { ...init, headers, cache: "no-store" }).catch(
    (error: unknown) => {
      if (error instanceof DOMException && error.name === "AbortError") throw error;
      throw new ApiError("The router does not answer.", 0, "unreachable", null);
    },
  );
  if (response.ok) return response;
  if (response.status === 401) keyWanted.set(true);
  throw await refusal(response);
}

export async function getJson<T>(path: string, signal?: AbortSignal): Promise<T> {
  const response = await call(path, signal === undefined ? {} : { signal });
  return (await response.json()) as T;
}

export async function postJson<T>(path: string, body?: unknown, signal?: AbortSignal): Promise<T> {
  const response = await call(path, {
    method: "POST",
    ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { "content-type": "application/json" } }),
    ...(signal === undefined ? {} : { signal }),
  });
  return (await response.json()) as T;
}

/** `v1/jobs?limit=50`: keys that are null, undefined or "" are left out. */
export function withQuery(path: string, query: Readonly<Record<string, string | number | null | undefined>>): string {
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) {
    if (value !== null && value !== undefined && value !== "") search.set(key, String(value));
  }
  const text = search.toString();
  return text === "" ? path : `${path}?${text}`;
}

async function refusal(response: Response): Promise<ApiError> {
  const after = Number(response.headers.get("retry-after"));
  const retry = Number.isFinite(after) && after > 0 ? after : null;
  const body = (await response.json().catch(() => null)) as ErrorBody | null;
  const { message, code } = body?.error ?? { message: `The router answered ${response.status}.`, code: "unknown" };
  return new ApiError(message, response.status, code, retry);
}
