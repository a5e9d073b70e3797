// The words of the wire and those of the domain. They meet nowhere else.

import type { WireStatus } from "../client/wire.ts";
import type { JobStatus } from "../domain/job.ts";

const WIRE: Readonly<Record<JobStatus, WireStatus>> = {
  queued: "queued",
  running: "in_progress",
  succeeded: "completed",
  failed: "failed",
  cancelled: "cancelled",
  expired: "expired",
};

export const WIRE_STATUSES: readonly WireStatus[] = Object.values(WIRE);

export function toWire(status: JobStatus): WireStatus {
  return WIRE[status];
}

/** A document that holds a job's status, as it goes out. */
export function withWireStatus<T extends { readonly status: JobStatus }>(
  told: T,
): Omit<T, "status"> & { readonly status: WireStatus } {
  return { ...told, status: toWire(told.status) };
}

export function fromWire(word: string): JobStatus | null {
  const found = Object.entries(WIRE).find(([, wire]) => wire === word);
  return found === undefined ? null : (found[0] as JobStatus);
}
