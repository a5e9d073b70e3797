// The two ways in which a verb of the store can fail.

export class StoreError extends Error {
  readonly outcome: "unavailable" | "unknown";

  constructor(outcome: "unavailable" | "unknown", message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "StoreError";
    this.outcome = outcome;
  }
}
