// Files: rows beside spooled bytes. A file whose time is over, or that was deleted, is gone for its owner at once; row and
// bytes follow as soon as no live batch reads them.

import type { Database } from "better-sqlite3";
import type { CallerId, FileId } from "../../domain/ids.ts";
import type { FileQuery, FileVerbs, NewFile, StoredFile } from "../file-verbs.ts";
import type { Page } from "../store.ts";
import type { Stamp } from "./job-row.ts";
import type { Ledger } from "./ledger.ts";
import type { Outbox } from "./outbox.ts";
import { PURGE_BATCH, type Purger } from "./purger.ts";

const INSERT = `
  INSERT INTO files (id, caller, purpose, filename, size, created_wall_ms, created_ms, expires_ms, location)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING *`;
const HIDE =
  "UPDATE files SET deleted = 1 WHERE id = ? AND caller = ? AND deleted = 0 AND coalesce(expires_ms, 9e18) > ?";
const UNREAD = `AND NOT EXISTS
  (SELECT 1 FROM batches INDEXED BY batches_open WHERE input_file = files.id AND ended_ms IS NULL)`;
export const EXPIRED_FILES = `
  SELECT seq FROM files INDEXED BY files_due WHERE expires_ms IS NOT NULL AND expires_ms <= ? ${UNREAD} ORDER BY expires_ms LIMIT ?`;
export const DELETED_FILES = `SELECT seq FROM files INDEXED BY files_deleted WHERE deleted = 1 ${UNREAD} LIMIT ?`;
const DROP = "DELETE FROM files WHERE seq = ? RETURNING size, location";
const GET = `
  SELECT * FROM files WHERE id = @id AND caller = @caller AND deleted = 0 AND coalesce(expires_ms, 9e18) > @atMs`;

interface FileRow {
  id: string;
  caller: string;
  purpose: string;
  filename: string;
  size: number;
  created_wall_ms: number;
  created_ms: number;
  expires_ms: number | null;
  location: string;
}

export interface Filing {
  addFile(at: Stamp, file: NewFile): StoredFile | "storage_full";
  removeFile(at: Stamp, caller: CallerId, id: FileId): boolean;
}

/** What other verbs of the same transaction need of files. */
export interface FileKeeper {
  /** Without a look at the bound: room was made before. */
  insert(at: Stamp, file: NewFile): StoredFile;
  /** Removes what is gone for its owner; returns how many. */
  sweep(at: Stamp): number;
}

export function createFiling(
  db: Database,
  purger: Purger,
  ledger: Ledger,
  discarded: string[],
): { readonly verbs: Filing; readonly keeper: FileKeeper } {
  const insertRow = db.prepare<unknown[], FileRow>(INSERT);
  const hide = db.prepare(HIDE);
  const expired = db.prepare<[number, number], number>(EXPIRED_FILES).pluck();
  const deleted = db.prepare<[number], number>(DELETED_FILES).pluck();
  const drop = db.prepare<[number], { size: number; location: string }>(DROP);

  const insert = (at: Stamp, file: NewFile): StoredFile => {
    const { id, caller, purpose, filename, sizeBytes, uri, ttlMs } = file;
    const expiresMs = ttlMs === null ? null : at.atMs + ttlMs;
    const wallMs = Math.floor(at.wallMs);
    const row = insertRow.get(id, caller, purpose, filename, sizeBytes, wallMs, at.atMs, expiresMs, uri);
    if (row === undefined) throw new Error("a file that was inserted has no row");
    ledger.bytesBy(sizeBytes);
    return toFile(row);
  };
  const sweep = (at: Stamp): number => {
    const seqs = new Set([...expired.all(at.atMs, PURGE_BATCH), ...deleted.all(PURGE_BATCH)]);
    for (const seq of seqs) {
      const gone = drop.get(seq);
      if (gone === undefined) continue;
      ledger.bytesBy(-gone.size);
      discarded.push(gone.location);
    }
    return seqs.size;
  };
  const verbs: Filing = {
    addFile: (at, file) => (purger.makeRoom(at.atMs, file.sizeBytes) ? insert(at, file) : "storage_full"),
    removeFile(at, caller, id) {
      const found = hide.run(id, caller, at.atMs).changes === 1;
      if (found) sweep(at);
      return found;
    },
  };
  return { verbs, keeper: { insert, sweep } };
}

/** @param read Runs a read as the store does. */
export function createFileVerbs(
  db: Database,
  outbox: Outbox,
  read: <Value>(act: () => Value) => Promise<Value>,
): FileVerbs {
  const get = db.prepare<[object], FileRow>(GET);
  return {
    add: (file) => outbox.call("addFile", [file]),
    remove: (caller, id) => outbox.call("removeFile", [caller, id]),
    get: (caller, id) =>
      read(() => {
        const row = get.get({ id, caller, atMs: outbox.stamp().atMs });
        return row === undefined ? null : toFile(row);
      }),
    list: (query) => read(() => listOf(db, query, outbox.stamp().atMs)),
  };
}

export function listFilesSql(order: FileQuery["order"], after: boolean): string {
  const newest = order === "newest";
  return `SELECT * FROM files INDEXED BY files_by_caller
    WHERE caller = @caller AND deleted = 0 ${after ? `AND id ${newest ? "<" : ">"} @after` : ""}
      AND coalesce(expires_ms, 9e18) > @atMs AND (@purpose IS NULL OR purpose = @purpose)
    ORDER BY id ${newest ? "DESC" : "ASC"} LIMIT @rows`;
}

function listOf(db: Database, { caller, purpose, after, order, limit }: FileQuery, atMs: number): Page<StoredFile> {
  const statement = db.prepare<[object], FileRow>(listFilesSql(order, after !== undefined));
  const rows = statement.all({
    caller,
    purpose: purpose ?? null,
    atMs,
    rows: limit + 1,
    ...(after === undefined ? {} : { after }),
  });
  return { data: rows.slice(0, limit).map(toFile), hasMore: rows.length > limit };
}

function toFile(row: FileRow): StoredFile {
  return {
    id: row.id as FileId,
    caller: row.caller as CallerId,
    purpose: row.purpose,
    filename: row.filename,
    sizeBytes: row.size,
    uri: row.location,
    createdAtMs: row.created_wall_ms,
    expiresAtMs: row.expires_ms === null ? null : row.created_wall_ms + row.expires_ms - row.created_ms,
  };
}
