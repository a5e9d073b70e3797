// Reads a request's body to its end: checked, hashed and kept as it comes. Small bodies stay in memory; large ones and
// every multipart body go to a file, so that an upload costs no more memory than a few chunks.

import { createHash } from "node:crypto";
import { SirError } from "../domain/errors.ts";
import type { BodySource } from "../store/store.ts";
import type { Budget } from "./admission.ts";
import type { BodyFiles, FileInWriting } from "./body-files.ts";
import type { Media } from "./media.ts";
import { type Members, type ReadFields, readMembers } from "./members.ts";
import { MultipartScanner } from "./multipart.ts";
import { JsonScanner } from "./scan.ts";

/** Above this a body is not kept in memory. */
export const MEMORY_BODY_BYTES = 1024 * 1024;
/** Chunks are worked through in steps of this size, whatever size they come in. */
const STEP_BYTES = 64 * 1024;
const RETRY_AFTER_MS = 5_000;

interface ReadBody extends ReadFields {
  readonly sizeBytes: number;
  readonly sha256: Uint8Array;
  /** Of the parts, for multipart; of the bytes otherwise. */
  readonly contentDigest: Uint8Array;
  readonly source: BodySource;
}

interface Patch {
  readonly at: number;
  readonly bytes: Uint8Array;
}

/** As long as `true`: to an engine it means that the member is absent. */
const NULL = Buffer.from("null");

/** What one body occupies until its job is stored or refused. */
export class BodyKeeper {
  readonly #files: BodyFiles;
  readonly #memory: Budget;
  #chunks: Uint8Array[] = [];
  #inMemoryBytes = 0;
  #file: FileInWriting | null = null;
  #isFile: boolean;

  /** @param memory Where it is used up, small bodies go to files too. */
  constructor(files: BodyFiles, memory: Budget, isFile: boolean) {
    this.#files = files;
    this.#memory = memory;
    this.#isFile = isFile;
  }

  async write(bytes: Uint8Array): Promise<void> {
    const fits = !this.#isFile && this.#inMemoryBytes + bytes.length <= MEMORY_BODY_BYTES;
    if (fits && this.#memory.take(bytes.length)) {
      this.#inMemoryBytes += bytes.length;
      this.#chunks.push(bytes);
      return;
    }
    this.#isFile = true;
    await onDisk(async () => {
      const file = await this.#openFile();
      await file.write(bytes);
    });
  }

  /** @param patch Bytes that take the place of as many of the body's own. */
  async finish(patch: Patch | null = null): Promise<BodySource> {
    if (this.#isFile) {
      return onDisk(async () => {
        const file = await this.#openFile();
        if (patch !== null) await file.overwrite(patch.at, patch.bytes);
        await file.finish();
        return { kind: "file", uri: file.uri };
      });
    }
    const bytes = Buffer.concat(this.#chunks);
    this.#chunks = [];
    if (patch !== null) bytes.set(patch.bytes, patch.at);
    return { kind: "bytes", bytes };
  }

  /** The bytes in memory are no longer this body's business. Safe to call twice. */
  releaseMemory(): void {
    this.#memory.give(this.#inMemoryBytes);
    this.#inMemoryBytes = 0;
    this.#chunks = [];
  }

  /** Nothing of the body is wanted any more. Safe to call twice; never rejects. */
  async discard(): Promise<void> {
    this.releaseMemory();
    const file = this.#file;
    this.#file = null;
    try {
      await file?.discard();
    } catch {
      // Left for the sweep at the next start: no row refers to the file.
    }
  }

  /** Moves what is in memory to the file first. */
  async #openFile(): Promise<FileInWriting> {
    if (this.#file !== null) return this.#file;
    const file = await this.#files.create();
    this.#file = file;
    for (const chunk of this.#chunks) await file.write(chunk);
    this.releaseMemory();
    return file;
  }
}

/** A disk that is full or cannot be written is not the caller's fault, and trying again later may help. */
async function onDisk<Value>(write: () => Promise<Value>): Promise<Value> {
  try {
    return await write();
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? cause.code : null;
    const detail = { retryAfterMs: RETRY_AFTER_MS, cause };
    if (code === "ENOSPC" || code === "EDQUOT") {
      throw new SirError("storage_full", "The disk for request bodies is full; try again later.", detail);
    }
    throw new SirError("store_unavailable", "The request's body could not be written to disk; try again.", detail);
  }
}

/**
 * Stops reading at the first fault; the caller discards the keeper then.
 * @param ownBackground A true `background` is ours to carry out: the engine gets null in its place.
 * @throws {SirError} body_too_large, invalid_json, invalid_body, missing_model
 */
export async function readBody(
  chunks: AsyncIterable<Uint8Array>,
  media: Media,
  keeper: BodyKeeper,
  { limitBytes, ownBackground }: { readonly limitBytes: number; readonly ownBackground: boolean },
): Promise<ReadBody> {
  const scanner = media.kind === "json" ? new JsonScanner() : new MultipartScanner(media.boundary);
  const hash = createHash("sha256");
  let sizeBytes = 0;
  for await (const chunk of chunks) {
    sizeBytes += chunk.length;
    if (sizeBytes > limitBytes) throw bodyTooLarge(limitBytes);
    for (let at = 0; at < chunk.length; at += STEP_BYTES) {
      const step = chunk.subarray(at, at + STEP_BYTES);
      scanner.feed(step);
      hash.update(step);
      await keeper.write(step);
    }
  }
  const members: Members = scanner.finish();
  const read = readMembers(members);
  const sha256 = hash.digest();
  const contentDigest = scanner instanceof MultipartScanner ? scanner.partsDigest() : sha256;
  const { backgroundAt } = read;
  const patch = ownBackground && backgroundAt !== null ? { at: backgroundAt, bytes: NULL } : null;
  return { ...read, sizeBytes, sha256, contentDigest, source: await keeper.finish(patch) };
}

/** @throws {SirError} body_too_large, before anything is read */
export function checkContentLength(text: string | null, limitBytes: number): number | null {
  const announced = text !== null && /^\d+$/.test(text.trim()) ? Number(text) : null;
  if (announced !== null && announced > limitBytes) throw bodyTooLarge(limitBytes);
  return announced;
}

function bodyTooLarge(limitBytes: number): SirError {
  return new SirError("body_too_large", `The body is larger than the limit of ${limitBytes} bytes.`);
}
