// The end of a batch: its output and error files are written from the rows of its jobs, in the order of the input, and
// become its own in the transaction that makes it final. A crash before that leaves files that nobody refers to, which
// the next start sweeps away; then it is done again.

import type { Batch } from "../domain/batch.ts";
import { type IdSource, newFileId } from "../domain/ids.ts";
import type { FileInWriting } from "../intake/body-files.ts";
import type { LineOutcome } from "../store/batch-verbs.ts";
import type { NewFile } from "../store/file-verbs.ts";
import type { Result, Store } from "../store/store.ts";
import { type AnswerLine, answerLine } from "./answer-line.ts";
import type { FileBytes } from "./files.ts";

const PAGE_LINES = 100;
/** Others get their turn with each write, so it may not be long in coming. */
const WRITE_BYTES = 64 * 1024;

export interface SettleDeps {
  readonly store: Pick<Store, "batches" | "result">;
  readonly bytes: Pick<FileBytes, "create">;
  readonly ids: IdSource;
  /** Of output files, where the batch names no time of its own. */
  readonly fileTtlMs: number;
  /** The router goes down: the rest is left to the next one. */
  readonly stopping: AbortSignal;
}

/** The batch as it ended; null when it was ended meanwhile. */
export async function settle(batch: Batch, deps: SettleDeps): Promise<Batch | null> {
  const isCancelled = batch.status === "cancelling";
  const files = { output: new LineFile(deps.bytes), errors: new LineFile(deps.bytes) };
  try {
    const cutOff = await writeAll(batch, deps, isCancelled, files);
    const { output, errors } = files;
    const whole = { completed: output.lines, failed: errors.lines };
    const status = isCancelled ? "cancelled" : cutOff > 0 ? "expired" : "completed";
    const closed = await deps.store.batches.close(batch.id, {
      ...{ status, ...whole },
      output: await fileOf(batch, deps, output, "output"),
      errors: await fileOf(batch, deps, errors, "error"),
    });
    if (closed === null) await Promise.all([output.discard(), errors.discard()]);
    return closed;
  } catch (error) {
    // Where it is not known whether the batch has them, they stay: the next start sweeps what is nobody's.
    const mayBeStored = error instanceof Error && "outcome" in error && error.outcome === "unknown";
    if (!mayBeStored) await Promise.all([files.output.discard(), files.errors.discard()]);
    throw error;
  }
}

/** How many lines the window or a cancel cut off. */
async function writeAll(
  batch: Batch,
  { store, stopping }: SettleDeps,
  isCancelled: boolean,
  files: Readonly<Record<AnswerLine["file"], LineFile>>,
): Promise<number> {
  const hex = batch.id.slice("batch_".length);
  let cutOff = 0;
  for (let after = 0; ; ) {
    stopping.throwIfAborted();
    const page = await store.batches.outcomes(batch.id, after, PAGE_LINES);
    for (const outcome of page) {
      const answer = answerLine(outcome, hex, isCancelled, await resultOf(store, outcome));
      if (answer.cutOff) cutOff++;
      await files[answer.file].write(answer.bytes);
    }
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE_LINES) return cutOff;
    after = last.line;
  }
}

function resultOf(store: Pick<Store, "result">, { job }: LineOutcome): Promise<Result | null> | null {
  const answered = job?.state.status === "succeeded" || job?.state.status === "failed";
  return job !== null && answered ? store.result(job.id) : null;
}

async function fileOf(
  batch: Batch,
  { ids, fileTtlMs }: SettleDeps,
  file: LineFile,
  word: "output" | "error",
): Promise<NewFile | null> {
  const uri = await file.finish();
  if (uri === null) return null;
  return {
    ...{ id: newFileId(ids), caller: batch.caller, purpose: "batch_output" },
    ...{ filename: `${batch.id}_${word}.jsonl`, sizeBytes: file.sizeBytes, uri },
    ttlMs: batch.outputTtlMs ?? fileTtlMs,
  };
}

/** A file that is begun with its first line. */
class LineFile {
  readonly #bytes: Pick<FileBytes, "create">;
  #file: FileInWriting | null = null;
  #waiting: Uint8Array[] = [];
  #waitingBytes = 0;
  sizeBytes = 0;
  lines = 0;

  constructor(bytes: Pick<FileBytes, "create">) {
    this.#bytes = bytes;
  }

  async write(line: Uint8Array): Promise<void> {
    this.lines++;
    this.sizeBytes += line.length;
    this.#waiting.push(line);
    this.#waitingBytes += line.length;
    if (this.#waitingBytes >= WRITE_BYTES) await this.#flush();
  }

  /** Synced; null when no line came. */
  async finish(): Promise<string | null> {
    if (this.lines === 0) return null;
    await this.#flush();
    await this.#file?.finish();
    return this.#file?.uri ?? null;
  }

  async discard(): Promise<void> {
    await this.#file?.discard();
    this.#file = null;
  }

  async #flush(): Promise<void> {
    this.#file ??= await this.#bytes.create();
    const bytes = Buffer.concat(this.#waiting);
    this.#waiting = [];
    this.#waitingBytes = 0;
    await this.#file.write(bytes);
  }
}
