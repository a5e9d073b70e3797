// What the store keeps of webhooks: events that are still to be delivered, noted in the transaction of what they tell.

/** One event on its way to one endpoint. */
export interface Delivery {
  readonly seq: number;
  /** The same at every attempt; made from what it tells, so that it is never told under two names. */
  readonly event: string;
  readonly type: string;
  /** The id of the job, response or batch. */
  readonly subject: string;
  /** Wall clock, for show. */
  readonly createdAtMs: number;
  /** Attempts so far. */
  readonly attempts: number;
  /** Router time. */
  readonly dueMs: number;
}

/** Which events an endpoint wants. */
export interface Subscription {
  /** Stable over restarts, and no secret. */
  readonly endpoint: string;
  /** Names, or `job.*` and the like; `*` is all. */
  readonly events: readonly string[];
}

export interface DeliveryVerbs {
  /** The endpoint's next deliveries, due or not, by when they are due. */
  next(endpoint: string, limit: number): Promise<readonly Delivery[]>;
  /** It was taken, or is given up. */
  done(seq: number): Promise<void>;
  /** It was not taken: again at `dueMs`. */
  retry(seq: number, dueMs: number): Promise<void>;
  /** The endpoint wants nothing any more. */
  drop(endpoint: string): Promise<void>;
  pending(endpoint: string): Promise<number>;
}
