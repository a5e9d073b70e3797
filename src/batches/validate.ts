// A batch's input read once, as it streams by: every line is checked and its place noted, or its fault. Memory does not
// grow with the file, but for 24 bytes or so a line by which a second use of a custom_id is seen.

import { createHash } from "node:crypto";
import type { BatchFault } from "../domain/batch.ts";
import type { BatchLine } from "../store/batch-verbs.ts";
import { LineFault, LineReader, type LineRules } from "./line.ts";

const LF = 0x0a;
const STEP_BYTES = 64 * 1024;
/** As many faults are told; the rest of the file is not read then. */
const FAULTS_TOLD = 100;
/** Lines are noted so many at a time. */
const PAGE_LINES = 500;
/** What some editors put before the first line. */
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf] as const;

export interface ValidationRules extends LineRules {
  readonly maxLines: number;
  /** The configured name of what a line calls its model; the same text when there is none. */
  modelOf(name: string): string;
}

export type Verdict =
  | { readonly kind: "valid"; readonly total: number }
  | { readonly kind: "faulty"; readonly faults: readonly BatchFault[] }
  /** Nobody wants the verdict any more. */
  | { readonly kind: "stopped" };

/** @param note Keeps valid lines; false: stop. */
export async function validate(
  input: AsyncIterable<Uint8Array>,
  rules: ValidationRules,
  note: (lines: readonly BatchLine[]) => Promise<boolean>,
): Promise<Verdict> {
  const lines = new LineCollector(rules);
  for await (const chunk of input) {
    for (let at = 0; at < chunk.length; at += STEP_BYTES) {
      lines.feed(chunk.subarray(at, at + STEP_BYTES));
      if (lines.isHopeless) return { kind: "faulty", faults: lines.faults };
      const page = lines.take(PAGE_LINES);
      if (page.length > 0 && !(await note(page))) return { kind: "stopped" };
    }
  }
  lines.finish();
  if (lines.faults.length > 0) return { kind: "faulty", faults: lines.faults };
  const rest = lines.take(1);
  if (rest.length > 0 && !(await note(rest))) return { kind: "stopped" };
  return { kind: "valid", total: lines.total };
}

class LineCollector {
  readonly faults: BatchFault[] = [];
  readonly #rules: ValidationRules;
  readonly #seen = new Set<string>();
  #found: BatchLine[] = [];
  #reader: LineReader;
  #isFaulty = false;
  #lineNumber = 1;
  #lineStart = 0;
  #offset = 0;
  total = 0;

  constructor(rules: ValidationRules) {
    this.#rules = rules;
    this.#reader = new LineReader(rules);
  }

  get isHopeless(): boolean {
    return this.faults.length >= FAULTS_TOLD || this.total > this.#rules.maxLines;
  }

  /** What was found since the last call, once there are `least`; nothing when the batch will fail anyway. */
  take(least: number): BatchLine[] {
    if (this.faults.length > 0) this.#found = [];
    if (this.#found.length < least) return [];
    const found = this.#found;
    this.#found = [];
    return found;
  }

  feed(step: Uint8Array): void {
    let from = 0;
    // However it is cut: none of its bytes could begin a line.
    while (from < step.length && step[from] === BYTE_ORDER_MARK[this.#offset + from]) from++;
    this.#lineStart += from;
    for (let end = step.indexOf(LF, from); end >= 0; end = step.indexOf(LF, from)) {
      this.#read(step.subarray(from, end));
      this.#endLine(this.#offset + end + 1);
      if (this.isHopeless) return;
      from = end + 1;
    }
    this.#read(step.subarray(from));
    this.#offset += step.length;
  }

  finish(): void {
    this.#endLine(this.#offset);
    if (this.total === 0 && this.faults.length === 0) {
      const message = "The input file has no requests; write one JSON object in each line.";
      this.faults.push({ code: "empty_file", message, param: "input_file_id", line: null });
    }
  }

  #read(bytes: Uint8Array): void {
    if (this.#isFaulty || (this.#reader.isEmpty && isBlank(bytes))) {
      if (!this.#isFaulty) this.#lineStart += bytes.length;
      return;
    }
    this.#try(() => this.#reader.feed(bytes));
  }

  #endLine(nextStart: number): void {
    if (!this.#isFaulty && !this.#reader.isEmpty) this.#try(() => this.#accept());
    if (this.#isFaulty || !this.#reader.isEmpty) this.#count();
    this.#reader = new LineReader(this.#rules);
    this.#isFaulty = false;
    this.#lineNumber++;
    this.#lineStart = nextStart;
  }

  #count(): void {
    this.total++;
    if (this.total !== this.#rules.maxLines + 1) return;
    const message = `The batch has more than ${this.#rules.maxLines} requests, which is the limit; split it.`;
    this.faults.push({ code: "too_many_lines", message, param: "input_file_id", line: this.#lineNumber });
  }

  #accept(): void {
    const { model, bodyStart, ...facts } = this.#reader.finish();
    const key = createHash("sha256").update(facts.customId).digest("base64").slice(0, 24);
    if (this.#seen.has(key)) {
      const id = JSON.stringify(facts.customId.slice(0, 100));
      throw new LineFault("duplicate_custom_id", `The custom_id ${id} stands in an earlier line too.`, "custom_id");
    }
    this.#seen.add(key);
    const place = { line: this.#lineNumber, bodyStart: this.#lineStart + bodyStart };
    this.#found.push({ ...facts, ...place, model: this.#rules.modelOf(model) });
  }

  #try(act: () => void): void {
    try {
      act();
    } catch (error) {
      if (!(error instanceof LineFault)) throw error;
      this.#isFaulty = true;
      const { code, message, param } = error;
      if (this.faults.length < FAULTS_TOLD) this.faults.push({ code, message, param, line: this.#lineNumber });
    }
  }
}

function isBlank(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0d);
}
