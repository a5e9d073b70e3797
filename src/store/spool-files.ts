// The spool in the words of those who write requests and files into it, and how much room its disk has.

import { statfs } from "node:fs/promises";
import type { Spool } from "./spool.ts";

/** A file that becomes durable when it is finished, and is gone when it is discarded. */
interface FileInWriting {
  readonly uri: string;
  write(bytes: Uint8Array): Promise<void>;
  overwrite(atByte: number, bytes: Uint8Array): Promise<void>;
  finish(): Promise<void>;
  discard(): Promise<void>;
}

interface SpoolFiles extends Pick<Spool, "open" | "slice" | "remove"> {
  create(): Promise<FileInWriting>;
}

/** @param nextName Never the same twice. */
export function spoolFiles(spool: Spool, nextName: () => string): SpoolFiles {
  return {
    create: async () => {
      const file = await spool.create(nextName());
      return {
        uri: file.uri,
        write: (bytes) => file.write(bytes),
        overwrite: (at, bytes) => file.overwrite(at, bytes),
        finish: () => file.commit(),
        discard: () => file.discard(),
      };
    },
    open: (uri) => spool.open(uri),
    slice: (uri, startByte, sizeBytes) => spool.slice(uri, startByte, sizeBytes),
    remove: (uri) => spool.remove(uri),
  };
}

/** For those who may write there; null in memory. */
export async function freeBytesAt(dataDir: string | null): Promise<number | null> {
  if (dataDir === null) return null;
  const { bavail, bsize } = await statfs(dataDir);
  return bavail * bsize;
}
