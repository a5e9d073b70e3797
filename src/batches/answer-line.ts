// What became of one line, as a line of the output file or of the error file.

import { ERRORS } from "../domain/errors.ts";
import type { Job } from "../domain/job.ts";
import { JsonScanner } from "../intake/scan.ts";
import type { LineOutcome } from "../store/batch-verbs.ts";
import type { Result } from "../store/store.ts";

const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;
/** What is no object is parsed to see whether it is JSON; larger bodies are told as text. */
const PARSED_BYTES = 256 * 1024;

export interface AnswerLine {
  /** 2xx lines are output, all others errors. */
  readonly file: "output" | "errors";
  /** The window or a cancel cut it off. */
  readonly cutOff: boolean;
  readonly bytes: Uint8Array;
}

/** @param batchHex Makes the id of a line that never was a job. @param result The job's answer, if it has one. */
export function answerLine(
  { line, customId, job }: LineOutcome,
  batchHex: string,
  isCancelled: boolean,
  result: Result | null,
): AnswerLine {
  const hex = job === null ? `${batchHex}${line}` : job.id.slice("job_".length);
  const head = `{"id":"batch_req_${hex}","custom_id":${JSON.stringify(customId)},"response":`;
  if (job !== null && result !== null) {
    const start = Buffer.from(`${head}{"status_code":${result.status},"request_id":"req_${hex}","body":`);
    const bytes = Buffer.concat([start, bodyOf(result), Buffer.from('},"error":null}\n')]);
    const ok = result.status >= 200 && result.status < 300;
    return { file: ok ? "output" : "errors", cutOff: false, bytes };
  }
  const verdict = verdictOf(job, isCancelled);
  if (verdict.status === null) {
    const { code, message } = verdict;
    const bytes = Buffer.from(`${head}null,"error":${JSON.stringify({ code, message })}}\n`);
    return { file: "errors", cutOff: verdict.cutOff, bytes };
  }
  const { code, message, type, status } = verdict;
  const response = {
    status_code: status,
    request_id: `req_${hex}`,
    body: { error: { message, type, param: null, code } },
  };
  return { file: "errors", cutOff: false, bytes: Buffer.from(`${head}${JSON.stringify(response)},"error":null}\n`) };
}

interface Verdict {
  readonly code: string;
  readonly message: string;
  readonly type: string;
  /** Null: it came to no answer over HTTP. */
  readonly status: number | null;
  readonly cutOff: boolean;
}

const NO_ANSWER = { type: "invalid_request_error", status: null } as const;
const EXPIRED: Verdict = {
  ...{ code: "batch_expired", message: "The completion window was over before this request was done." },
  ...{ ...NO_ANSWER, cutOff: true },
};
const CANCELLED: Verdict = {
  ...{ code: "batch_cancelled", message: "The batch was cancelled before this request was done." },
  ...{ ...NO_ANSWER, cutOff: true },
};

function verdictOf(job: Job | null, isCancelled: boolean): Verdict {
  if (job === null) return isCancelled ? CANCELLED : EXPIRED;
  const { state } = job;
  if (state.status === "expired" || (state.status === "cancelled" && state.reason === "deadline")) return EXPIRED;
  if (state.status === "cancelled" && isCancelled) return CANCELLED;
  if (state.status === "cancelled") {
    return { ...NO_ANSWER, code: "job_cancelled", message: `Its job was cancelled: ${state.reason}.`, cutOff: false };
  }
  if (state.status !== "failed" || state.error.code === "engine_refused") {
    const message = "Its answer was removed before the batch was done.";
    return { ...NO_ANSWER, code: "result_expired", message, cutOff: false };
  }
  const { code, message } = state.error;
  const { status, type } = ERRORS[code];
  return { code, message, type, status, cutOff: false };
}

/** JSON as it came, on one line; anything else as a JSON string. */
function bodyOf({ body }: Result): Uint8Array {
  if (isJson(body)) return onOneLine(body);
  return Buffer.from(JSON.stringify(Buffer.from(body.buffer, body.byteOffset, body.length).toString("utf8")));
}

function isJson(bytes: Uint8Array): boolean {
  const scanner = new JsonScanner();
  try {
    scanner.feed(bytes);
    scanner.finish();
    return true;
  } catch {
    if (bytes.length > PARSED_BYTES) return false;
  }
  try {
    JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("utf8"));
    return true;
  } catch {
    return false;
  }
}

/** Inside JSON a bare line end can only be white space. */
function onOneLine(bytes: Uint8Array): Uint8Array {
  if (!bytes.includes(LF) && !bytes.includes(CR)) return bytes;
  return bytes.map((byte) => (byte === LF || byte === CR ? SPACE : byte));
}
