// Why a store could not be opened, and what a person can do about it.

export type OpenFault =
  | "bad_url"
  | "missing"
  | "exists"
  | "older_schema"
  | "locked"
  | "network_filesystem"
  | "not_writable"
  | "full"
  | "corrupt"
  | "not_a_database"
  | "newer_schema"
  | "old_sqlite"
  | "not_durable"
  | "failed";

export class StoreOpenError extends Error {
  readonly fault: OpenFault;
  /** One sentence: what to do. */
  readonly mend: string;

  constructor(fault: OpenFault, message: string, mend: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "StoreOpenError";
    this.fault = fault;
    this.mend = mend;
  }
}
