// Bodies too large for memory, as files under the data directory. A file is complete and on the disk, name and all,
// before its URI may be committed; when a job's body goes, the row goes first and the file later; what is left over
// from a crash is swept at start.

import { createReadStream, mkdirSync, readdirSync, rmSync } from "node:fs";
import { open, rm } from "node:fs/promises";
import { basename, join } from "node:path";

const FOLDER = "spool";
/** The end of a URI that names a part of a file: `#` start `+` length. */
const SLICE = /#(\d+)\+(\d+)$/;
const NAME = /^[A-Za-z0-9_-]{1,64}$/;

/** A body while it is received. */
export interface SpoolFile {
  readonly uri: string;
  readonly sizeBytes: number;
  /** Resolves when the bytes are with the system (back-pressure). */
  write(bytes: Uint8Array): Promise<void>;
  /** Replaces bytes that were written; only before `commit`. */
  overwrite(at: number, bytes: Uint8Array): Promise<void>;
  /** Syncs the file and its directory: from here on the URI may be committed. */
  commit(): Promise<void>;
  /** Closes and removes it. Safe after `commit`, and twice. */
  discard(): Promise<void>;
}

export interface Spool {
  /** @param name Unique; ids are. */
  create(name: string): Promise<SpoolFile>;
  /** @throws when the file is gone, at the first read. */
  open(uri: string): AsyncIterable<Uint8Array>;
  /** The URI of a part of a file, which goes with that file. */
  slice(uri: string, startByte: number, sizeBytes: number): string;
  /** Does nothing when it is gone already. */
  remove(uri: string): Promise<void>;
}

export function createSpool(directory: string): Spool {
  const folder = join(directory, FOLDER);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return {
    async create(name) {
      if (!NAME.test(name)) throw new Error("a spool file's name may hold letters, digits, _ and - only");
      const path = join(folder, name);
      const file = await open(path, "wx", 0o600);
      let sizeBytes = 0;
      let isOpen = true;
      const shut = async (): Promise<void> => {
        if (!isOpen) return;
        isOpen = false;
        await file.close();
      };
      return {
        uri: `file:${FOLDER}/${name}`,
        get sizeBytes() {
          return sizeBytes;
        },
        async write(bytes) {
          // One call may write less than it was given.
          for (let done = 0; done < bytes.byteLength; ) {
            const { bytesWritten } = await file.write(bytes, done, bytes.byteLength - done);
            done += bytesWritten;
          }
          sizeBytes += bytes.byteLength;
        },
        async overwrite(at, bytes) {
          await file.write(bytes, 0, bytes.byteLength, at);
        },
        async commit() {
          await file.sync();
          await shut();
          await syncFolder(folder);
        },
        async discard() {
          await shut();
          await rm(path, { force: true });
        },
      };
    },
    open: (uri) => createReadStream(pathOf(directory, uri), rangeOf(uri)),
    slice: sliceOf,
    remove: (uri) => rm(pathOf(directory, uri), { force: true }),
  };
}

/** A part of a file that belongs to somebody else: it is read, never removed. */
function sliceOf(uri: string, startByte: number, sizeBytes: number): string {
  return `${uri}#${startByte}+${sizeBytes}`;
}

export function isSlice(uri: string | null): boolean {
  return uri !== null && SLICE.test(uri);
}

function rangeOf(uri: string): { start: number; end: number } | undefined {
  const [, start, size] = SLICE.exec(uri) ?? [];
  return start === undefined ? undefined : { start: Number(start), end: Number(start) + Number(size) - 1 };
}

/** Removes files whose rows are gone. A file that cannot be removed now is swept at the next start. */
export function removeSpooled(directory: string, uris: readonly string[]): void {
  for (const uri of uris) {
    try {
      rmSync(pathOf(directory, uri), { force: true });
    } catch {
      // Left for the sweep: the row is gone, and nothing refers to the file.
    }
  }
}

/** Removes what no row refers to; only before any body is received. Returns how many. */
export function sweepSpool(directory: string, known: ReadonlySet<string>): number {
  const folder = join(directory, FOLDER);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const orphans = readdirSync(folder)
    .map((name) => `file:${FOLDER}/${name}`)
    .filter((uri) => !known.has(uri));
  removeSpooled(directory, orphans);
  return orphans.length;
}

/** Nothing but the last part counts, so that no URI leads outside. */
function pathOf(directory: string, uri: string): string {
  const name = basename(uri.replace(SLICE, ""));
  if (!NAME.test(name)) throw new Error("not the URI of a spooled body");
  return join(directory, FOLDER, name);
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
