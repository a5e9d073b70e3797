// The one implementation of Relay: for each live job its listeners and, where the answer is kept, what came so far.

import type { Head } from "../backends/backend.ts";
import type { JobId } from "../domain/ids.ts";
import type { Job } from "../domain/job.ts";
import type { Result } from "../store/store.ts";
import type { Listener, Relay } from "./relay.ts";

interface Channel {
  readonly listeners: Set<Listener>;
  head: Head | null;
  /** Null: not kept, because nobody needs it whole. */
  kept: Uint8Array[] | null;
  keptBytes: number;
  /** A live listener has had a byte. */
  delivered: boolean;
  /** Keep what comes until the next live listener has it. */
  briefly: boolean;
  /** An attempt is under way: what it sends must be kept although nobody listens now. */
  running: boolean;
}

export class RelayHub implements Relay {
  readonly #channels = new Map<JobId, Channel>();

  attach(id: JobId, listener: Listener): () => void {
    const channel = this.#channel(id);
    channel.listeners.add(listener);
    if (listener.live !== null && channel.head !== null) {
      listener.live.head(channel.head);
      for (const bytes of channel.kept ?? []) {
        channel.delivered ||= listener.beginsAgain !== true;
        void this.#pass(channel, listener, bytes);
      }
    }
    if (listener.live !== null && channel.briefly) {
      channel.briefly = false;
      channel.kept = null;
      channel.keptBytes = 0;
    }
    return () => {
      channel.listeners.delete(listener);
      if (channel.listeners.size === 0 && !channel.running) this.#channels.delete(id);
    };
  }

  keep(id: JobId): boolean {
    const channel = this.#channel(id);
    if (channel.kept !== null) return true;
    if (channel.delivered) return false;
    channel.briefly = true;
    if (channel.running) channel.kept = [];
    return true;
  }

  /** An attempt starts: nothing has come yet. `keep` holds the whole answer in memory until the job is final. */
  start(id: JobId, keep: boolean): void {
    const channel = this.#channel(id);
    channel.running = true;
    channel.head = null;
    channel.kept = keep || channel.briefly ? [] : null;
    channel.keptBytes = 0;
  }

  head(id: JobId, head: Head): void {
    const channel = this.#channel(id);
    channel.head = head;
    for (const listener of channel.listeners) listener.live?.head(head);
  }

  /** Resolves when every live listener has taken the bytes or was dropped. */
  async chunk(id: JobId, bytes: Uint8Array): Promise<void> {
    const channel = this.#channel(id);
    if (channel.kept !== null) {
      channel.kept.push(bytes);
      channel.keptBytes += bytes.byteLength;
    }
    const taking: Promise<void>[] = [];
    for (const listener of channel.listeners) {
      if (listener.live === null) continue;
      channel.delivered ||= listener.beginsAgain !== true;
      taking.push(this.#pass(channel, listener, bytes));
    }
    if (taking.length > 0) await Promise.all(taking);
  }

  /** Whether a streaming caller has had a byte of this job. */
  delivered(id: JobId): boolean {
    return this.#channels.get(id)?.delivered ?? false;
  }

  keptBytes(id: JobId): number {
    return this.#channels.get(id)?.keptBytes ?? 0;
  }

  /** The whole answer of the attempt, or null when it was not kept or has no head. */
  result(id: JobId): Result | null {
    const channel = this.#channels.get(id);
    if (channel === undefined || channel.head === null || channel.kept === null) return null;
    return { status: channel.head.status, headers: channel.head.headers, body: Buffer.concat(channel.kept) };
  }

  /** Forgets what came of an attempt that is followed by another. */
  discard(id: JobId): void {
    const channel = this.#channels.get(id);
    if (channel === undefined) return;
    channel.running = false;
    channel.head = null;
    channel.kept = null;
    channel.keptBytes = 0;
    if (channel.listeners.size === 0) this.#channels.delete(id);
  }

  /** The job is final: tells every listener and forgets the channel. */
  done(job: Job, result: Result | null): void {
    const channel = this.#channels.get(job.id);
    this.#channels.delete(job.id);
    for (const listener of channel?.listeners ?? []) listener.done(job, result);
  }

  #channel(id: JobId): Channel {
    let channel = this.#channels.get(id);
    if (channel === undefined) {
      channel = {
        listeners: new Set(),
        head: null,
        kept: null,
        keptBytes: 0,
        delivered: false,
        briefly: false,
        running: false,
      };
      this.#channels.set(id, channel);
    }
    return channel;
  }

  /** A listener that fails to take its bytes has gone; the others and the engine are not its business. */
  async #pass(channel: Channel, listener: Listener, bytes: Uint8Array): Promise<void> {
    try {
      await listener.live?.chunk(bytes);
    } catch {
      channel.listeners.delete(listener);
    }
  }
}
