// Reads a recorder's log and builds the disk as it would be after a power cut at any point: what was synced is there; of
// the rest nothing, everything, a random half, or a random half torn at sectors.

import { readFileSync } from "node:fs";
import { basename } from "node:path";

const TYPE = { write: 1, sync: 2, truncate: 3, open: 4, unlink: 5, ack: 9 } as const;
const SECTOR = 512;

interface Entry {
  readonly type: number;
  readonly file: number;
  readonly offset: number;
  readonly data: Buffer;
}

export interface Recording {
  readonly entries: readonly Entry[];
  readonly names: ReadonlyMap<number, string>;
  /** Before it the store was not open yet. */
  readonly ready: number;
}

export interface Cut {
  /** By base name. */
  readonly files: ReadonlyMap<string, Buffer>;
  readonly acknowledged: readonly string[];
}

/** Deterministic, so that a failing cut can be cut again. */
export function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) & 0x7fffffff;
    return state / 0x7fffffff;
  };
}

export function readRecording(path: string): Recording {
  const log = readFileSync(path);
  const entries: Entry[] = [];
  const names = new Map<number, string>();
  for (let at = 0; at + 18 <= log.length; ) {
    const type = log[at] ?? 0;
    const file = log[at + 1] ?? 0;
    const offset = Number(log.readBigUInt64LE(at + 2));
    const length = type === TYPE.truncate ? 0 : Number(log.readBigUInt64LE(at + 10));
    const data = log.subarray(at + 18, at + 18 + length);
    at += 18 + length;
    if (type === TYPE.open) names.set(file, basename(data.toString()));
    entries.push({ type, file, offset, data });
  }
  return { entries, names, ready: entries.findIndex((entry) => entry.type === TYPE.ack) };
}

interface Disk {
  durable: Buffer;
  pending: Entry[];
  exists: boolean;
}

export type Survival = "nothing" | "everything" | "half" | "torn";

export function cutAt(recording: Recording, at: number, survival: Survival, random: () => number): Cut {
  const disks = new Map<number, Disk>();
  const acks: string[] = [];
  for (const entry of recording.entries.slice(0, at + 1)) {
    if (entry.type === TYPE.ack) acks.push(entry.data.toString());
    else apply(diskOf(disks, entry.file), entry);
  }
  const files = new Map<string, Buffer>();
  for (const [file, disk] of disks) {
    disk.pending = survivors(disk.pending, survival, random);
    fold(disk);
    const name = recording.names.get(file) ?? "";
    if (disk.exists && name !== "") files.set(name, disk.durable);
  }
  return { files, acknowledged: acks.join("").split("\n") };
}

function diskOf(disks: Map<number, Disk>, file: number): Disk {
  const known = disks.get(file);
  if (known !== undefined) return known;
  const fresh: Disk = { durable: Buffer.alloc(0), pending: [], exists: true };
  disks.set(file, fresh);
  return fresh;
}

function apply(disk: Disk, entry: Entry): void {
  if (entry.type === TYPE.open) disk.exists = true;
  else if (entry.type === TYPE.sync) fold(disk);
  else if (entry.type === TYPE.unlink) Object.assign(disk, { exists: false, durable: Buffer.alloc(0), pending: [] });
  else disk.pending.push(entry);
}

function survivors(pending: readonly Entry[], survival: Survival, random: () => number): Entry[] {
  if (survival === "nothing") return [];
  if (survival === "everything") return [...pending];
  const half = pending.filter(() => random() < 0.5);
  return survival === "half" ? half : half.map((entry) => torn(entry, random));
}

function torn(entry: Entry, random: () => number): Entry {
  if (entry.type !== TYPE.write || entry.data.length <= SECTOR || random() < 0.5) return entry;
  const sectors = Math.floor((random() * entry.data.length) / SECTOR);
  return { ...entry, data: entry.data.subarray(0, sectors * SECTOR) };
}

/** What is pending becomes durable. */
function fold(disk: Disk): void {
  const ends = disk.pending.map((each) => each.offset + each.data.length);
  const grown = Buffer.alloc(Math.max(disk.durable.length, ...ends, 0));
  disk.durable.copy(grown);
  let size = disk.durable.length;
  for (const { type, offset, data } of disk.pending) {
    if (type === TYPE.truncate) {
      if (offset < size) grown.fill(0, offset, size);
      size = offset;
    } else {
      data.copy(grown, offset);
      size = Math.max(size, offset + data.length);
    }
  }
  disk.durable = grown.subarray(0, size);
  disk.pending = [];
}
