// What must be true of the disk before a database is opened on it.

import { closeSync, fsyncSync, openSync, rmSync, statfsSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import { StoreOpenError } from "../open-error.ts";
import { StoreError } from "../store.ts";
import { unusable } from "./lock.ts";

/** Magic numbers of statfs. On these, locks lie or fsync does. */
const NETWORK_FILESYSTEMS: ReadonlyMap<number, string> = new Map([
  [0x6969, "NFS"],
  [0x517b, "SMB"],
  [0xff534d42, "CIFS"],
  [0xfe534d42, "SMB2"],
  [0x65735546, "FUSE"],
  [0x01021997, "9P"],
  [0x00c36400, "Ceph"],
  [0x5346414f, "AFS"],
]);

/** @throws {StoreOpenError} */
export function assertLocal(directory: string, magic = statfsSync(directory).type): void {
  const name = NETWORK_FILESYSTEMS.get(magic >>> 0);
  if (name === undefined) return;
  throw new StoreOpenError(
    "network_filesystem",
    `${directory} lies on ${name}, where SQLite cannot keep a write-ahead log safe`,
    "choose a directory on a local disk with SIR_STORE or --store",
  );
}

/** Writes, syncs and removes a small file. @throws {StoreOpenError} */
export function probeWrite(directory: string): void {
  const path = join(directory, ".write-probe");
  try {
    const fd = openSync(path, "w", 0o600);
    try {
      writeSync(fd, "sir");
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    rmSync(path);
  } catch (error) {
    throw unusable(directory, error);
  }
}

/** Remembers which file was opened; what it returns fails when another one, or none, has taken its place. */
export function watchFile(path: string): () => void {
  const opened = statSync(path);
  return () => {
    const now = statSync(path, { throwIfNoEntry: false });
    if (now !== undefined && now.ino === opened.ino && now.dev === opened.dev) return;
    const what = now === undefined ? "deleted" : "replaced by another file";
    throw new StoreError("unknown", `${path} was ${what} while it was in use: nothing written since can be trusted`);
  };
}
