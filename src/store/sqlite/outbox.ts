// Verbs on their way to the host: gathered by tick, answered after COMMIT, each with a deadline. What may be written
// lazily waits here for company, at most a second.

import type { Clock, Timer } from "../../domain/clock.ts";
import type { JobId } from "../../domain/ids.ts";
import { StoreError } from "../store.ts";
import type { Reply, Request } from "./batch.ts";
import type { ArgsOf, ValueOf, WriteVerb } from "./core.ts";
import type { Host } from "./host.ts";
import type { Stamp } from "./job-row.ts";

const LAZY_MS = 1_000;
/** Bounds on what may wait for the host; beyond them the store is unavailable. */
const MAX_WAITING = 50_000;
const MAX_WAITING_BYTES = 1_073_741_824;
const MAX_LAZY = 20_000;
const POLLS_PER_VERB = 500;

interface Waiter {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: StoreError) => void;
  readonly sizeBytes: number;
}

/** What a verb weighs, and when it was called. */
interface Load extends Partial<Pick<Request, "at" | "sizeBytes" | "moved">> {}

export class Outbox {
  readonly #host: Host;
  readonly #clock: Clock;
  readonly #deadlineMs: number;
  readonly #waiting = new Map<number, Waiter>();
  readonly #polls = new Map<JobId, number>();
  readonly #overdue: { readonly lastN: number; readonly timer: Timer }[] = [];
  #queue: Request[] = [];
  #lazy: Request[] = [];
  #lazyTimer: Timer | null = null;
  #scheduled = false;
  #waitingBytes = 0;
  #n = 0;
  /** `dead`: a simulated kill, nothing settles. `failed`: fail-stop. */
  #state: "open" | "failed" | "dead" = "open";
  #failure = "";

  constructor(host: Host, clock: Clock, deadlineMs: number) {
    this.#host = host;
    this.#clock = clock;
    this.#deadlineMs = deadlineMs;
  }

  get dead(): boolean {
    return this.#state === "dead";
  }

  get failed(): boolean {
    return this.#state === "failed";
  }

  stamp(): Stamp {
    return { atMs: this.#clock.nowMs(), wallMs: this.#clock.wallMs() };
  }

  /** Resolves after COMMIT. */
  call<Verb extends WriteVerb>(
    verb: Verb,
    args: ArgsOf<Verb>,
    { at = this.stamp(), sizeBytes = 0, moved = [] }: Load = {},
  ): Promise<ValueOf<Verb>> {
    if (this.#state === "dead") return new Promise(() => undefined);
    if (this.#state === "failed") return Promise.reject(new StoreError("unavailable", this.#failure));
    if (this.#waiting.size >= MAX_WAITING || this.#waitingBytes + sizeBytes > MAX_WAITING_BYTES) {
      const message = `the disk cannot follow: ${this.#waiting.size} writes wait already`;
      return Promise.reject(new StoreError("unavailable", message));
    }
    const request = { n: ++this.#n, verb, at, args, sizeBytes, moved };
    return new Promise((resolve, reject) => {
      this.#waiting.set(request.n, { resolve: resolve as (value: unknown) => void, reject, sizeBytes });
      this.#waitingBytes += sizeBytes;
      this.#queue.push(...this.#takeLazy(), request);
      this.#schedule();
    });
  }

  /** Rides on the next commit; goes alone after a second. Never waited for. */
  later<Verb extends "append" | "markRead">(verb: Verb, args: ArgsOf<Verb>): void {
    if (this.#state !== "open" || this.#lazy.length >= MAX_LAZY) return;
    this.#lazy.push(this.#light(verb, args));
    this.#armLazy();
  }

  notePolls(ids: readonly JobId[]): void {
    if (this.#state !== "open") return;
    const atMs = this.#clock.nowMs();
    for (const id of ids) if (this.#polls.size < MAX_LAZY || this.#polls.has(id)) this.#polls.set(id, atMs);
    this.#armLazy();
  }

  /** Sends what is lazy, too; resolves when everything sent so far is committed. */
  async flush(): Promise<void> {
    this.#lazyTimer?.cancel();
    this.#lazyTimer = null;
    this.#lazy.push(...this.#takePolls());
    await this.call("touch", []);
  }

  /** The same deadline for what is not a verb. */
  within<Value>(asked: Promise<Value>): Promise<Value> {
    if (!this.#host.remote) return asked;
    return new Promise((resolve, reject) => {
      const timer = this.#clock.at(this.#clock.nowMs() + this.#deadlineMs, () => reject(this.#late()));
      asked.then(resolve, reject).finally(() => timer.cancel());
    });
  }

  settle(replies: readonly Reply[]): void {
    if (this.#state === "dead") return;
    for (const reply of replies) {
      const waiter = this.#take(reply.n);
      if (reply.ok) waiter?.resolve(reply.value);
      else waiter?.reject(new StoreError("unavailable", `${reply.code} ${reply.message}`.trim()));
    }
    const lastN = replies.at(-1)?.n ?? 0;
    while (this.#overdue[0] !== undefined && this.#overdue[0].lastN <= lastN) this.#overdue.shift()?.timer.cancel();
  }

  /** Fail-stop: whatever waits may or may not be on the disk. */
  fail(message: string): void {
    if (this.#state !== "open") return;
    this.#state = "failed";
    this.#failure = message;
    this.#drop();
    for (const n of [...this.#waiting.keys()]) this.#take(n)?.reject(new StoreError("unknown", message));
  }

  die(): void {
    this.#state = "dead";
    this.#drop();
    this.#waiting.clear();
  }

  #drop(): void {
    this.#lazyTimer?.cancel();
    for (const { timer } of this.#overdue.splice(0)) timer.cancel();
    this.#queue = [];
    this.#lazy = [];
    this.#polls.clear();
  }

  #take(n: number): Waiter | undefined {
    const waiter = this.#waiting.get(n);
    this.#waiting.delete(n);
    this.#waitingBytes -= waiter?.sizeBytes ?? 0;
    return waiter;
  }

  #takeLazy(): Request[] {
    const lazy = this.#lazy;
    if (lazy.length > 0) this.#lazy = [];
    return lazy;
  }

  #takePolls(): Request[] {
    const polls = [...this.#polls];
    this.#polls.clear();
    const requests: Request[] = [];
    for (let i = 0; i < polls.length; i += POLLS_PER_VERB) {
      requests.push(this.#light("notePolls", [polls.slice(i, i + POLLS_PER_VERB)]));
    }
    return requests;
  }

  #light<Verb extends WriteVerb>(verb: Verb, args: ArgsOf<Verb>): Request {
    return { n: ++this.#n, verb, at: this.stamp(), args, sizeBytes: 0, moved: [] };
  }

  #armLazy(): void {
    this.#lazyTimer ??= this.#clock.at(this.#clock.nowMs() + LAZY_MS, () => {
      this.#lazyTimer = null;
      if (this.#state !== "open") return;
      this.#queue.push(...this.#takeLazy(), ...this.#takePolls());
      if (this.#queue.length > 0) this.#schedule();
    });
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    this.#host.schedule(() => {
      this.#scheduled = false;
      this.#send();
    });
  }

  #send(): void {
    const requests = this.#queue;
    const lastN = requests.at(-1)?.n;
    if (this.#state !== "open" || lastN === undefined) return;
    this.#queue = [];
    if (this.#host.remote) {
      const timer = this.#clock.at(this.#clock.nowMs() + this.#deadlineMs, () => this.#expire(requests));
      this.#overdue.push({ lastN, timer });
    }
    this.#host.submit(requests);
  }

  /** A process that was stopped finds its answers waiting behind its timers: they are heard first. */
  #expire(requests: readonly Request[]): void {
    setImmediate(() => {
      for (const { n } of requests) this.#take(n)?.reject(this.#late());
    });
  }

  #late(): StoreError {
    return new StoreError("unknown", `no answer from the disk within ${this.#deadlineMs} ms`);
  }
}
