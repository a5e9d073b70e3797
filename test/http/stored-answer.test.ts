// Which status a job's end has on the wire: one that no client repeats by itself.

import { expect, it } from "vitest";
import { ERRORS, type ErrorCode } from "../../src/domain/errors.ts";
import type { Job, JobState } from "../../src/domain/job.ts";
import { verdictStatus } from "../../src/http/stored-answer.ts";

const ended = (state: JobState): Job => ({ state }) as Job;
const failed = (code: ErrorCode | "engine_refused"): Job =>
  ended({ status: "failed", startedAtMs: null, finishedAtMs: 0, error: { code, message: "x" } });

it.each([
  ["backend_error", 502],
  ["backend_lost", 502],
  ["load_failed", 502],
  ["poison", 502],
  ["execution_timeout", 504],
  ["model_not_found", 404],
  ["engine_refused", 400],
  ["no_backend", 502],
  ["internal_error", 502],
  ["rate_limit_exceeded", 502],
] as const)("%s is %i", (code, status) => {
  expect(verdictStatus(failed(code))).toBe(status);
});

it("is 4xx, 502 or 504 for every error that there is, and none that clients repeat or mangle", () => {
  for (const code of Object.keys(ERRORS) as ErrorCode[]) {
    const status = verdictStatus(failed(code));
    expect(status === 502 || status === 504 || (status >= 400 && status < 500)).toBe(true);
    expect([408, 409, 410, 425, 429]).not.toContain(status);
  }
});

it("is 400 for jobs that were cancelled or expired", () => {
  expect(verdictStatus(ended({ status: "expired", finishedAtMs: 0 }))).toBe(400);
  expect(verdictStatus(ended({ status: "cancelled", startedAtMs: null, finishedAtMs: 0, reason: "client" }))).toBe(400);
});
