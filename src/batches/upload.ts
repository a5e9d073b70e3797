// An uploaded file: a form whose `file` part goes to disk as it comes, and whose few short fields are read.

import { SirError } from "../domain/errors.ts";
import { createBudget } from "../intake/admission.ts";
import type { BodyFiles } from "../intake/body-files.ts";
import { KeptBytes } from "../intake/kept-bytes.ts";
import { MultipartScanner, type PartHead, type PartWatcher } from "../intake/multipart.ts";
import { BodyKeeper } from "../intake/read-body.ts";

/** What OpenAI lets a caller upload. `batch_output` is what batches write. */
export const PURPOSES = ["batch", "assistants", "fine-tune", "vision", "user_data", "evals"] as const;
export const LEAST_TTL_SECONDS = 3_600;
export const MOST_TTL_SECONDS = 2_592_000;

const FIELD_BYTES = 1_024;
/** Beside the file itself a form has its boundaries and a few short fields. */
export const FORM_BYTES = 64 * 1024;
const STEP_BYTES = 64 * 1024;
const FILENAME_CHARACTERS = 255;

export interface Upload {
  readonly purpose: string;
  readonly filename: string;
  readonly sizeBytes: number;
  readonly uri: string;
  readonly expiresAfterSeconds: number | null;
  /** Removes it from the disk. Safe to call twice. */
  discard(): Promise<void>;
}

/**
 * Memory does not grow with the file.
 *
 * @throws {SirError} invalid_body, body_too_large, storage_full, store_unavailable
 */
export async function readUpload(
  chunks: AsyncIterable<Uint8Array>,
  boundary: string,
  files: BodyFiles,
  maxFileBytes: number,
): Promise<Upload> {
  const form = new UploadForm();
  const scanner = new MultipartScanner(boundary, form);
  const keeper = new BodyKeeper(files, createBudget(0), true);
  let sizeBytes = 0;
  let formBytes = 0;
  try {
    for await (const chunk of chunks) {
      formBytes += chunk.length;
      if (formBytes > maxFileBytes + FORM_BYTES) throw tooLarge(maxFileBytes);
      for (let at = 0; at < chunk.length; at += STEP_BYTES) {
        scanner.feed(chunk.subarray(at, at + STEP_BYTES));
        for (const bytes of form.takeContent()) {
          sizeBytes += bytes.length;
          if (sizeBytes > maxFileBytes) throw tooLarge(maxFileBytes);
          await keeper.write(bytes);
        }
      }
    }
    scanner.finish();
    const fields = form.read();
    const source = await keeper.finish();
    if (source.kind !== "file") throw new Error("an upload was kept in memory");
    return { ...fields, sizeBytes, uri: source.uri, discard: () => keeper.discard() };
  } catch (error) {
    await keeper.discard();
    throw error;
  }
}

function tooLarge(maxFileBytes: number): SirError {
  return new SirError("body_too_large", `The file is larger than the limit of ${maxFileBytes} bytes.`, {
    param: "file",
  });
}

type Fields = Pick<Upload, "purpose" | "filename" | "expiresAfterSeconds">;

/** Collects the file's bytes between two steps, and the fields' text. */
class UploadForm implements PartWatcher {
  readonly #value = new KeptBytes(FIELD_BYTES);
  readonly #texts = new Map<string, string | null>();
  #content: Uint8Array[] = [];
  #part: PartHead | null = null;
  #filename: string | null = null;

  begin(head: PartHead): void {
    this.#part = head;
    this.#value.restart(FIELD_BYTES);
    if (head.name !== "file") return;
    if (this.#filename !== null) throw invalid("file", 'The form has more than one "file"; upload them one by one.');
    this.#filename = head.filename ?? "upload";
  }

  content(bytes: Uint8Array): void {
    if (this.#part?.name === "file") this.#content.push(bytes);
    else this.#value.append(bytes, 0, bytes.length);
  }

  end(): void {
    const name = this.#part?.name ?? null;
    if (name !== null && name !== "file") this.#texts.set(name, this.#value.text());
    this.#part = null;
  }

  /** What has come since the last call; to be written before the next step. */
  takeContent(): Uint8Array[] {
    const content = this.#content;
    if (content.length > 0) this.#content = [];
    return content;
  }

  /** @throws {SirError} invalid_body */
  read(): Fields {
    if (this.#filename === null) throw invalid("file", 'The form has no "file" part.');
    const purpose = this.#texts.get("purpose")?.trim() ?? "";
    if (!(PURPOSES as readonly string[]).includes(purpose)) {
      throw invalid("purpose", `"purpose" must be one of ${PURPOSES.join(", ")}.`);
    }
    return { purpose, filename: nameOf(this.#filename), expiresAfterSeconds: this.#expiresAfter() };
  }

  #expiresAfter(): number | null {
    const anchor = this.#texts.get("expires_after[anchor]");
    const seconds = this.#texts.get("expires_after[seconds]");
    if (anchor === undefined && seconds === undefined) return null;
    return readExpiry("expires_after", anchor, /^\d{1,9}$/.test(seconds ?? "") ? Number(seconds) : seconds);
  }
}

/** `{anchor: "created_at", seconds}`, as files and batches have it. @throws {SirError} invalid_body */
export function readExpiry(param: string, anchor: unknown, seconds: unknown): number {
  if (anchor !== "created_at") throw invalid(`${param}[anchor]`, `"${param}[anchor]" must be created_at.`);
  if (typeof seconds === "number" && Number.isInteger(seconds)) {
    if (seconds >= LEAST_TTL_SECONDS && seconds <= MOST_TTL_SECONDS) return seconds;
  }
  const range = `from ${LEAST_TTL_SECONDS} to ${MOST_TTL_SECONDS}`;
  throw invalid(`${param}[seconds]`, `"${param}[seconds]" must be a whole number ${range}.`);
}

/** The last part of a path, without control characters. */
function nameOf(filename: string): string {
  const last = filename.split(/[/\\]/).at(-1) ?? "";
  const clean = last.replace(/\p{Cc}/gu, "").slice(-FILENAME_CHARACTERS);
  return clean === "" ? "upload" : clean;
}

function invalid(param: string, message: string): SirError {
  return new SirError("invalid_body", message, { param });
}
