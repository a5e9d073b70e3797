// Files as callers have them: uploaded, listed, read and deleted, each owner for itself.

import { SirError } from "../domain/errors.ts";
import { type CallerId, type FileId, type IdSource, newFileId } from "../domain/ids.ts";
import { createBudget } from "../intake/admission.ts";
import type { BodyFiles } from "../intake/body-files.ts";
import { readMedia } from "../intake/media.ts";
import type { StoredFile } from "../store/file-verbs.ts";
import { type Store, StoreError } from "../store/store.ts";
import { FORM_BYTES, readUpload, type Upload } from "./upload.ts";

const OPEN_UPLOADS_MAX = 100;
const RETRY_AFTER_MS = 5_000;

export interface FileSettings {
  readonly maxFileBytes: number;
  /** Of batch files for which the caller names no expiry. */
  readonly batchFileTtlMs: number;
}

/** Where the bytes of files lie. */
export interface FileBytes extends BodyFiles {
  /** Ends with an error when the file is gone. */
  open(uri: string): AsyncIterable<Uint8Array>;
  /** The URI of a part of a file. */
  slice(uri: string, startByte: number, sizeBytes: number): string;
}

export interface FileDeps {
  readonly store: Pick<Store, "files">;
  readonly ids: IdSource;
  readonly bytes: FileBytes;
  readonly settings: FileSettings;
}

export interface IncomingUpload {
  readonly caller: CallerId;
  header(name: string): string | null;
  readonly body: AsyncIterable<Uint8Array>;
}

export interface FileDesk {
  /**
   * Streams the upload to disk; resolves after COMMIT.
   * @throws {SirError} unsupported_media_type, invalid_header, invalid_body, body_too_large, storage_full, queue_full,
   *   store_unavailable
   */
  upload(incoming: IncomingUpload): Promise<StoredFile>;
  open(file: StoredFile): AsyncIterable<Uint8Array>;
}

export function createFileDesk({ store, ids, bytes, settings }: FileDeps): FileDesk {
  const open = createBudget(OPEN_UPLOADS_MAX);

  const keep = async (caller: CallerId, upload: Upload): Promise<StoredFile> => {
    const { purpose, filename, sizeBytes, uri, expiresAfterSeconds } = upload;
    const fallbackMs = purpose === "batch" ? settings.batchFileTtlMs : null;
    const ttlMs = expiresAfterSeconds === null ? fallbackMs : expiresAfterSeconds * 1_000;
    const id: FileId = newFileId(ids);
    try {
      const added = await store.files.add({ id, caller, purpose, filename, sizeBytes, uri, ttlMs });
      if (added !== "storage_full") return added;
    } catch (error) {
      // Perhaps its row is there: then the bytes must stay, and if it is not, the next start sweeps them away.
      if (!(error instanceof StoreError) || error.outcome === "unavailable") await upload.discard();
      throw error;
    }
    await upload.discard();
    throw new SirError("storage_full", "The space for stored files and answers is used up; delete some or wait.", {
      retryAfterMs: RETRY_AFTER_MS,
    });
  };

  return {
    async upload({ caller, header, body }) {
      const media = readMedia(header);
      if (media.kind !== "multipart") {
        throw new SirError("unsupported_media_type", "A file is uploaded as multipart/form-data.", {
          param: "content-type",
        });
      }
      const announced = Number(header("content-length") ?? 0);
      if (announced > settings.maxFileBytes + FORM_BYTES) {
        throw new SirError("body_too_large", `The file is larger than the limit of ${settings.maxFileBytes} bytes.`);
      }
      if (!open.take(1)) {
        throw new SirError(
          "queue_full",
          `${OPEN_UPLOADS_MAX} files are being uploaded already; try again in a moment.`,
          {
            retryAfterMs: RETRY_AFTER_MS,
          },
        );
      }
      try {
        return await keep(caller, await readUpload(body, media.boundary, bytes, settings.maxFileBytes));
      } finally {
        open.give(1);
      }
    },
    open: (file) => bytes.open(file.uri),
  };
}
