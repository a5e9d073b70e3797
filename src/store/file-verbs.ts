// What the store keeps of files: their rows. The bytes lie in the spool; they are complete and on the disk before the row
// is committed, and go after the row has gone.

import type { CallerId, FileId } from "../domain/ids.ts";
import type { Page } from "./store.ts";

export interface NewFile {
  readonly id: FileId;
  readonly caller: CallerId;
  readonly purpose: string;
  readonly filename: string;
  readonly sizeBytes: number;
  /** Of a file that is on the disk, name and all. */
  readonly uri: string;
  /** From now; null: until it is deleted. */
  readonly ttlMs: number | null;
}

export interface StoredFile {
  readonly id: FileId;
  readonly caller: CallerId;
  readonly purpose: string;
  readonly filename: string;
  readonly sizeBytes: number;
  readonly uri: string;
  /** Wall clock, for show. */
  readonly createdAtMs: number;
  /** As the creation's wall clock counts; null: until it is deleted. */
  readonly expiresAtMs: number | null;
}

export interface FileQuery {
  readonly caller: CallerId;
  readonly purpose?: string;
  readonly after?: FileId;
  readonly order: "newest" | "oldest";
  readonly limit: number;
}

export interface FileVerbs {
  /** After COMMIT; counts against `maxStoredBytes`, for which what was read goes first. */
  add(file: NewFile): Promise<StoredFile | "storage_full">;
  /** The caller's own, if its time is not over. */
  get(caller: CallerId, id: FileId): Promise<StoredFile | null>;
  list(query: FileQuery): Promise<Page<StoredFile>>;
  /** False: the caller has no such file. */
  remove(caller: CallerId, id: FileId): Promise<boolean>;
}
