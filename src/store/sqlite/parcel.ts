// Bytes on their way to another thread.

import type { Body } from "../store.ts";

/** Values at least so large change hands between threads instead of being copied. */
const MOVED_BYTES = 262_144;

export interface Parcel {
  readonly bytes: Uint8Array;
  /** What the receiver takes over; here it is empty afterwards. */
  readonly moved: ArrayBuffer[];
}

/**
 * A view would drag its whole buffer along, so it is cut out; what is large changes hands.
 *
 * @param take Whether the sender gives its own bytes away, too.
 */
export function parcel(bytes: Uint8Array, take: boolean): Parcel {
  const { buffer } = bytes;
  if (!(buffer instanceof ArrayBuffer) || bytes.byteLength < buffer.byteLength) {
    const copy = new Uint8Array(bytes);
    return { bytes: copy, moved: copy.byteLength >= MOVED_BYTES ? [copy.buffer] : [] };
  }
  return { bytes, moved: take && bytes.byteLength >= MOVED_BYTES ? [buffer] : [] };
}

/** A body as it can be sent to the host; a file stays where it is, and a host in this thread takes it as it is. */
export function postable(body: Body, remote: boolean, take: boolean): { body: Body; moved: ArrayBuffer[] } {
  if (body.source.kind === "file" || !remote) return { body, moved: [] };
  const { bytes, moved } = parcel(body.source.bytes, take);
  return { body: { ...body, source: { kind: "bytes", bytes } }, moved };
}
