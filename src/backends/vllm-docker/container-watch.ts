// Sees containers end, at once: Docker's events where they may be read, and a look at each container whenever the
// stream breaks and every now and then. It runs only while there is something to watch.

import { z } from "zod";
import { type Clock, sleepUntil } from "../../domain/clock.ts";
import { type Container, inspectContainer } from "./docker-engine.ts";
import type { DockerHttp } from "./docker-http.ts";
import { jsonLines } from "./docker-pull.ts";

const HEAD_MS = 10_000;
const RECONNECT_MS = 1_000;
/** A stream over a network can die without a word. */
const LOOK_MS = 15_000;

const eventShape = z.looseObject({ Action: z.string(), Actor: z.looseObject({ ID: z.string() }) });

/** How a watched container ended; null: it is not there any more. */
export type Ended = (container: Container | null) => void;

export class ContainerWatch {
  readonly #docker: DockerHttp;
  readonly #clock: Clock;
  readonly #watched = new Map<string, { readonly ref: string; readonly ended: Ended }>();
  #running: AbortController | null = null;

  constructor(docker: DockerHttp, clock: Clock) {
    this.#docker = docker;
    this.#clock = clock;
  }

  /**
   * Calls `ended` once, when the container does not run any more.
   *
   * @param ref What the container may be asked for by: a proxy may allow its name only.
   * @returns Ends the watch.
   */
  watch(id: string, ref: string, ended: Ended): () => void {
    const entry = { ref, ended };
    this.#watched.set(id, entry);
    if (this.#running === null) {
      this.#running = new AbortController();
      void this.#run(this.#running.signal);
    }
    void this.#look(id);
    return () => {
      if (this.#watched.get(id) === entry) this.#watched.delete(id);
      if (this.#watched.size === 0) this.close();
    };
  }

  close(): void {
    this.#running?.abort();
    this.#running = null;
  }

  async #run(signal: AbortSignal): Promise<void> {
    const looks = this.#lookNowAndThen(signal);
    while (!signal.aborted) {
      try {
        await this.#listen(signal);
      } catch {
        // Not reachable, or not allowed: the look below and the next round are the answer to it.
      }
      if (signal.aborted) break;
      await this.#lookAtAll();
      await sleepUntil(this.#clock, this.#clock.nowMs() + RECONNECT_MS, signal);
    }
    await looks;
  }

  async #lookNowAndThen(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await sleepUntil(this.#clock, this.#clock.nowMs() + LOOK_MS, signal);
      if (!signal.aborted) await this.#lookAtAll();
    }
  }

  async #listen(signal: AbortSignal): Promise<void> {
    const query = { filters: JSON.stringify({ type: ["container"], event: ["die", "destroy"] }) };
    const body = await this.#docker.stream({ method: "GET", path: "/events", query, limitMs: HEAD_MS, signal });
    try {
      // What ended while nobody listened.
      await this.#lookAtAll();
      for await (const line of jsonLines(body as AsyncIterable<Uint8Array>)) {
        const event = eventShape.safeParse(line);
        if (event.success) void this.#look(event.data.Actor.ID);
      }
    } finally {
      body.destroy();
    }
  }

  async #lookAtAll(): Promise<void> {
    await Promise.all([...this.#watched.keys()].map((id) => this.#look(id)));
  }

  /** An engine that cannot be asked says nothing about its containers. */
  async #look(id: string): Promise<void> {
    const entry = this.#watched.get(id);
    if (entry === undefined) return;
    let container: Container | null;
    try {
      container = await inspectContainer(this.#docker, entry.ref);
    } catch {
      return;
    }
    const gone = container === null || container.id !== id;
    if (!gone && container?.running === true) return;
    if (this.#watched.get(id) !== entry) return;
    this.#watched.delete(id);
    entry.ended(gone ? null : container);
    if (this.#watched.size === 0) this.close();
  }
}
