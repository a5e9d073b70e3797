// Whether the data directory can be written, and how much room there is.

import { existsSync, rmSync, statfsSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Check, fault, ok, warn } from "./check.ts";
import { startFault } from "./start-fault.ts";

const GIB = 1_073_741_824;
const LITTLE_BYTES = GIB;
const TOO_LITTLE_BYTES = 64 * 1_048_576;

/** Leaves nothing behind; a directory that is not there yet is looked for in the nearest one above it. */
export function checkDisk(dataDir: string): Check[] {
  let folder = dataDir;
  while (!existsSync(folder) && dirname(folder) !== folder) folder = dirname(folder);
  if (!statSync(folder).isDirectory()) {
    return [fault("data directory", `${folder} is a file, not a directory.`, "Choose another store.url.")];
  }
  const probe = join(folder, `.sir-doctor-${process.pid}`);
  try {
    writeFileSync(probe, "x", { flag: "wx" });
    rmSync(probe);
  } catch (error) {
    const found = startFault(error, { host: "", port: 0, dataDir: folder });
    const text = found?.text ?? `${folder} cannot be written.`;
    return [fault("data directory", text, found?.mend ?? "Make it writable, or choose another store.url.")];
  }
  const state = folder === dataDir ? "writable" : `will be created under ${folder}`;
  return [ok("data directory", `${dataDir}, ${state}`), checkRoom(folder)];
}

function checkRoom(folder: string): Check {
  const { bavail, bsize } = statfsSync(folder);
  const free = bavail * bsize;
  const text = `${(free / GIB).toFixed(1)} GiB free under ${folder}`;
  if (free < TOO_LITTLE_BYTES) return fault("disk", text, "Free some space; a full disk takes no new jobs.");
  return free < LITTLE_BYTES ? warn("disk", text, "Free some space, or lower jobs.maxStoredBytes.") : ok("disk", text);
}
