// One attempt: a POST to the address that was checked, over a connection of its own. Redirects are not followed, and of
// the answer only its status and Retry-After are read.

import { type ClientRequest, request as httpRequest } from "node:http";
import { request as httpsRequest, type RequestOptions } from "node:https";
import type { Clock } from "../domain/clock.ts";
import { checkedAddress, type Resolve } from "./address.ts";
import type { Endpoint } from "./endpoint.ts";

const TIMEOUT_MS = 15_000;
const RETRY_AFTER_MAX_MS = 86_400_000;

export type Posted =
  | { readonly kind: "taken"; readonly status: number }
  /** 410: the endpoint wants nothing any more. */
  | { readonly kind: "gone"; readonly status: number }
  | {
      readonly kind: "failed";
      readonly status: number | null;
      readonly detail: string;
      readonly retryAfterMs: number | null;
    };

export interface PostWorld {
  readonly clock: Clock;
  readonly resolve: Resolve;
}

/** Never rejects. */
export async function post(
  endpoint: Pick<Endpoint, "url" | "allowPrivate">,
  headers: Readonly<Record<string, string>>,
  payload: string,
  { clock, resolve }: PostWorld,
  signal: AbortSignal,
): Promise<Posted> {
  const url = new URL(endpoint.url);
  const checked = await checkedAddress(url, endpoint.allowPrivate, resolve);
  if (checked.kind !== "go") return failed(null, checked.detail);
  const { address, family } = checked.to;
  const options: RequestOptions = {
    method: "POST",
    agent: false,
    headers: {
      ...headers,
      "content-type": "application/json",
      "content-length": Buffer.byteLength(payload),
      "user-agent": "sir-router",
    },
    // Pinned: what is connected to is what was checked. Node asks for one address or for all of them.
    lookup: (_host, { all }, done) => {
      if (all === true) done(null, [{ address, family }]);
      else done(null, address, family);
    },
  };
  const send = url.protocol === "https:" ? httpsRequest : httpRequest;
  return new Promise((settle) => {
    const call: ClientRequest = send(url, options);
    const late = clock.at(clock.nowMs() + TIMEOUT_MS, () => end(failed(null, `no answer within ${TIMEOUT_MS} ms`)));
    const stop = (): void => end(failed(null, "the router goes down"));
    const end = (posted: Posted): void => {
      late.cancel();
      signal.removeEventListener("abort", stop);
      call.destroy();
      settle(posted);
    };
    signal.addEventListener("abort", stop, { once: true });
    call.once("response", ({ statusCode = 0, headers: answered }) =>
      end(verdictOf(statusCode, String(answered["retry-after"] ?? ""))),
    );
    call.on("error", (error) => end(failed(null, codeOf(error))));
    call.end(payload);
  });
}

function verdictOf(status: number, retryAfter: string): Posted {
  if (status >= 200 && status < 300) return { kind: "taken", status };
  if (status === 410) return { kind: "gone", status };
  const seconds = /^\d{1,9}$/.test(retryAfter) ? Number(retryAfter) : null;
  const detail = status >= 300 && status < 400 ? "it redirects, which is not followed" : `it answered ${status}`;
  const retryAfterMs = seconds === null ? null : Math.min(RETRY_AFTER_MAX_MS, seconds * 1_000);
  return { kind: "failed", status, detail, retryAfterMs };
}

function failed(status: number | null, detail: string): Posted {
  return { kind: "failed", status, detail, retryAfterMs: null };
}

/** Its code, where it has one: messages hold addresses. */
function codeOf(error: Error): string {
  return "code" in error && typeof error.code === "string" ? error.code : "the connection failed";
}
