// Carries events to their endpoints. Each endpoint has its own sender with its own few connections and its own timer, so
// that one that is dead or slow delays nobody else. What is to be sent lies in the store; memory has what is under way.

import { isBatchFinal } from "../domain/batch.ts";
import type { Clock, Timer } from "../domain/clock.ts";
import type { Emit, RouterEvent } from "../domain/event.ts";
import type { Delivery, DeliveryVerbs } from "../store/delivery-verbs.ts";
import { type Resolve, resolveName } from "./address.ts";
import { type Endpoint, payloadOf, signedHeaders } from "./endpoint.ts";
import { type Posted, post } from "./post.ts";
import { retryDelayMs } from "./schedule.ts";

/** Of one endpoint at once. */
const CONNECTIONS = 4;
const STORE_RETRY_MS = 5_000;
/** A timer no longer than this, so that none overflows. */
const LONGEST_SLEEP_MS = 3_600_000;

export interface DelivererDeps {
  readonly store: { readonly deliveries: DeliveryVerbs };
  readonly clock: Clock;
  readonly endpoints: readonly Endpoint[];
  readonly emit: Emit;
  /** Default: the system's. */
  readonly resolve?: Resolve;
}

export class Deliverer {
  readonly #senders: readonly Sender[];

  constructor(deps: DelivererDeps) {
    this.#senders = deps.endpoints.map((endpoint) => new Sender(endpoint, deps));
  }

  /** Takes up what an earlier router left. */
  start(): void {
    this.#wake();
  }

  /** An event may have been noted. */
  listen(event: RouterEvent): void {
    if (event.type === "job.finished" || (event.type === "batch.changed" && isBatchFinal(event.status))) this.#wake();
  }

  /** Cuts what is under way; it is sent again by the next router. */
  async close(): Promise<void> {
    await Promise.all(this.#senders.map((sender) => sender.close()));
  }

  #wake(): void {
    for (const sender of this.#senders) sender.wake();
  }
}

class Sender {
  readonly #endpoint: Endpoint;
  readonly #deps: DelivererDeps;
  readonly #underWay = new Map<number, Promise<void>>();
  readonly #closing = new AbortController();
  #timer: Timer | null = null;
  #scheduled = false;
  #looking: Promise<void> = Promise.resolve();
  /** It answered 410 to this router: it is asked again after a restart, not before. */
  #isGone = false;

  constructor(endpoint: Endpoint, deps: DelivererDeps) {
    this.#endpoint = endpoint;
    this.#deps = deps;
  }

  wake(): void {
    if (this.#scheduled || this.#closing.signal.aborted) return;
    this.#scheduled = true;
    this.#deps.clock.soon(() => {
      this.#scheduled = false;
      this.#looking = this.#looking.then(() => this.#look());
    });
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#timer?.cancel();
    await this.#looking;
    await Promise.all(this.#underWay.values());
  }

  async #look(): Promise<void> {
    if (this.#closing.signal.aborted || this.#underWay.size >= CONNECTIONS) return;
    const { store, clock } = this.#deps;
    try {
      if (this.#isGone) {
        await store.deliveries.drop(this.#endpoint.id);
        return;
      }
      const nowMs = clock.nowMs();
      for (const delivery of await store.deliveries.next(this.#endpoint.id, 2 * CONNECTIONS)) {
        if (this.#underWay.has(delivery.seq)) continue;
        if (delivery.dueMs > nowMs) {
          this.#sleepUntil(delivery.dueMs);
          break;
        }
        if (this.#underWay.size >= CONNECTIONS) break;
        this.#begin(delivery);
      }
    } catch {
      // The store says so itself; what is due stays due.
      this.#sleepUntil(clock.nowMs() + STORE_RETRY_MS);
    }
  }

  #sleepUntil(atMs: number): void {
    const { clock } = this.#deps;
    this.#timer?.cancel();
    this.#timer = clock.at(Math.min(atMs, clock.nowMs() + LONGEST_SLEEP_MS), () => this.wake());
  }

  #begin(delivery: Delivery): void {
    const sent = this.#send(delivery).then((noted) => {
      this.#underWay.delete(delivery.seq);
      if (noted) this.wake();
      else this.#sleepUntil(this.#deps.clock.nowMs() + STORE_RETRY_MS);
    });
    this.#underWay.set(delivery.seq, sent);
  }

  /** False: the store did not take the outcome, so the event is still due. */
  async #send(delivery: Delivery): Promise<boolean> {
    const { clock, resolve = resolveName } = this.#deps;
    const { secrets } = this.#endpoint;
    const payload = payloadOf(delivery);
    const headers = signedHeaders(secrets, delivery.event, clock.wallMs(), payload);
    const fromMs = clock.nowMs();
    const posted = await post(this.#endpoint, headers, payload, { clock, resolve }, this.#closing.signal);
    if (this.#closing.signal.aborted && posted.kind !== "taken") return true;
    const outcome = await this.#note(delivery, posted).catch(() => "unknown" as const);
    this.#deps.emit({
      type: "webhook.attempted",
      endpoint: this.#endpoint.label,
      event: delivery.type,
      id: delivery.event,
      attempt: delivery.attempts + 1,
      outcome,
      status: posted.status,
      detail: posted.kind === "failed" ? posted.detail : null,
      tookMs: clock.nowMs() - fromMs,
    });
    return outcome !== "unknown";
  }

  /** Where the store does not answer, the event is sent once more than need be. */
  async #note(
    { seq, event, attempts }: Delivery,
    posted: Posted,
  ): Promise<"delivered" | "gone" | "failed" | "given_up"> {
    const { store, clock } = this.#deps;
    if (posted.kind === "taken") {
      await store.deliveries.done(seq);
      return "delivered";
    }
    if (posted.kind === "gone") {
      this.#isGone = true;
      return "gone";
    }
    const delayMs = retryDelayMs(event, attempts + 1, posted.retryAfterMs);
    if (delayMs === null) {
      await store.deliveries.done(seq);
      return "given_up";
    }
    await store.deliveries.retry(seq, clock.nowMs() + delayMs);
    return "failed";
  }
}
