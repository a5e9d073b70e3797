// An endpoint as it is configured, the names of events, and the signature of Standard Webhooks.

import { createHash, createHmac } from "node:crypto";
import type { Delivery } from "../store/delivery-verbs.ts";

/** OpenAI's names for responses and batches, and ours for jobs. */
export const EVENT_TYPES = [
  "response.completed",
  "response.failed",
  "response.cancelled",
  "response.incomplete",
  "batch.completed",
  "batch.failed",
  "batch.cancelled",
  "batch.expired",
  "job.completed",
  "job.failed",
  "job.cancelled",
  "job.expired",
] as const;
/** Of one kind, or all. */
export const EVENT_GROUPS = ["response.*", "batch.*", "job.*", "*"] as const;

export interface Endpoint {
  /** Made from the address, so that it is the same after a restart; no secret. */
  readonly id: string;
  readonly url: string;
  /** Host and port, for logs and metrics: an address may hold a secret. */
  readonly label: string;
  /** Each signs, so that a receiver can change from one to the next. */
  readonly secrets: readonly string[];
  readonly events: readonly string[];
  /** Private, loopback and link-local addresses, and plain http. */
  readonly allowPrivate: boolean;
}

export const SECRET_PREFIX = "whsec_";
const LEAST_SECRET_BYTES = 24;
const MOST_SECRET_BYTES = 64;

export function endpointId(url: string): string {
  return `hook_${createHash("sha256").update(url).digest("hex").slice(0, 16)}`;
}

/** Null: it is not `whsec_` and the base64 of 24 to 64 bytes. */
export function secretBytes(secret: string): Uint8Array | null {
  if (!secret.startsWith(SECRET_PREFIX)) return null;
  const text = secret.slice(SECRET_PREFIX.length);
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(text)) return null;
  const bytes = Buffer.from(text, "base64");
  return bytes.length >= LEAST_SECRET_BYTES && bytes.length <= MOST_SECRET_BYTES ? bytes : null;
}

/** The same bytes at every attempt. */
export function payloadOf({ event, type, subject, createdAtMs }: Delivery): string {
  return JSON.stringify({
    id: event,
    object: "event",
    created_at: Math.floor(createdAtMs / 1000),
    type,
    data: { id: subject },
  });
}

/** @param atWallMs Of this attempt: receivers refuse what is more than five minutes off. */
export function signedHeaders(
  secrets: readonly string[],
  event: string,
  atWallMs: number,
  payload: string,
): Record<string, string> {
  const timestamp = String(Math.floor(atWallMs / 1000));
  const signatures = secrets.map((secret) => {
    const key = secretBytes(secret) ?? Buffer.alloc(0);
    return `v1,${createHmac("sha256", key).update(`${event}.${timestamp}.${payload}`).digest("base64")}`;
  });
  return { "webhook-id": event, "webhook-timestamp": timestamp, "webhook-signature": signatures.join(" ") };
}
