// What intake needs of the place where large bodies lie on disk.

export interface FileInWriting {
  /** `file:` and a path under the data directory. */
  readonly uri: string;
  /** Resolves when more may come (back-pressure). */
  write(bytes: Uint8Array): Promise<void>;
  /** Replaces bytes that were written; only before `finish`. */
  overwrite(at: number, bytes: Uint8Array): Promise<void>;
  /** Flushes to the disk: after this the file survives a power cut. */
  finish(): Promise<void>;
  /** Closes and removes it, finished or not. Safe to call twice. */
  discard(): Promise<void>;
}

export interface BodyFiles {
  create(): Promise<FileInWriting>;
  remove(uri: string): Promise<void>;
}
