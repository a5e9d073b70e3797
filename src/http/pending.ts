// What a caller gets while its job is not over: the receipt, where to look, and when.

import type { Job } from "../domain/job.ts";
import { isOwn } from "./caller.ts";
import { type Call, type HttpWorld, onDelivered } from "./deps.ts";
import { answerOf, receiptBytes, receiptFacts } from "./receipt.ts";
import { VARY } from "./stored-answer.ts";

export interface ReceiptOptions {
  readonly status: 200 | 202;
  /** Relative to the request's own path, so that proxies with a prefix do not break it. */
  readonly location?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The receipt as it is now, with the answer in it when there is one and it is the caller's own. */
export async function receiptResponse(c: Call, world: HttpWorld, job: Job, options: ReceiptOptions): Promise<Response> {
  c.set("job", job.id);
  const { status } = job.state;
  const kept = job.durable && job.resultPurgedAtMs === null && isOwn(c, job);
  const answered = (status === "succeeded" || status === "failed") && kept;
  const [facts, result] = await Promise.all([
    receiptFacts(world, job),
    answered ? world.store.result(job.id) : Promise.resolve(null),
  ]);
  const answer = answerOf(result);
  if (answer?.whole === true && c.req.method !== "HEAD") onDelivered(c, () => world.store.markRead(job.id));
  return new Response(receiptBytes(facts, answer) as Uint8Array<ArrayBuffer>, {
    status: options.status,
    headers: {
      "content-type": "application/json",
      "cache-control": "no-store",
      vary: VARY,
      "sir-job-id": job.id,
      ...(facts.retry_after === null ? {} : { "retry-after": String(facts.retry_after) }),
      ...(options.location === undefined ? {} : { location: options.location }),
      ...options.headers,
    },
  });
}

const NOT_FOLLOWED = {
  message:
    "The answer is not ready yet: this is a redirect to where it will be. Let your HTTP client follow redirects (httpx: " +
    "follow_redirects=True, curl: -L), or send `Prefer: respond-async` and poll, or set sync.redirect to false.",
  type: "invalid_request_error",
  param: null,
  code: "redirect_not_followed",
} as const;

/**
 * 303 to the result. Its body is the receipt with an error that explains itself: only a client that does not follow ever
 * shows it.
 */
export async function redirectResponse(
  c: Call,
  world: HttpWorld,
  job: Job,
  { location, headers = {} }: { readonly location: string; readonly headers?: Readonly<Record<string, string>> },
): Promise<Response> {
  c.set("job", job.id);
  const facts = { ...(await receiptFacts(world, job)), error: NOT_FOLLOWED };
  return new Response(receiptBytes(facts, null) as Uint8Array<ArrayBuffer>, {
    status: 303,
    headers: {
      "content-type": "application/json",
      "cache-control": "no-store",
      vary: VARY,
      "sir-job-id": job.id,
      location,
      ...headers,
    },
  });
}

/** From an inference endpoint to its job: `jobs/{id}`, `../jobs/{id}` and so on, always inside `/v1`. */
export function jobLocation(endpoint: string, job: Job): string {
  const [, ...segments] = endpoint.split("/");
  const inside = segments[0] === "v1";
  const up = "../".repeat(Math.max(0, segments.length - (inside ? 2 : 1)));
  return `${up}${inside ? "" : "v1/"}jobs/${job.id}`;
}
