// Made-up lives, parts and devices for tests of words: one of each kind, and any.

import type { Decision, DecisionReason } from "../../src/domain/decision.ts";
import type { DecisionId, DeviceId, JobId, ModelName } from "../../src/domain/ids.ts";
import type { CancelReason, Job, JobState } from "../../src/domain/job.ts";
import type { Life, Part, StretchDetail } from "../../src/domain/life.ts";
import { CAUSES, type Cause, type HoldRule } from "../../src/domain/wait.ts";
import { HOLD_WORDS } from "../../src/explain/hold-words.ts";

export const named = (name: string): ModelName => name as ModelName;
export const LABELS: Readonly<Record<string, string>> = {
  "openai/gpt-oss-120b": "gpt-oss-120b",
  "qwen/qwen3-coder-30b": "qwen3-coder-30b",
};
export const label = (name: string): string => LABELS[name] ?? name;
export const HOLDER = named("openai/gpt-oss-120b");
export const OWN = named("qwen/qwen3-coder-30b");
export const RULES = Object.keys(HOLD_WORDS) as HoldRule[];

/** 21:12:26 in UTC. */
export const CREATED_MS = Date.UTC(2026, 10, 30, 21, 12, 26);
const ACCEPTED_MS = 1_000_000;

export function part(cause: Cause, ms: number, more: Partial<Part> = {}): Part {
  return {
    cause,
    rule: cause === "held" ? "score" : null,
    by: ["held", "draining", "unloading"].includes(cause) ? HOLDER : null,
    device: "gpu0" as DeviceId,
    decision: null,
    ms,
    stretches: 1,
    fromMs: ACCEPTED_MS,
    toMs: ACCEPTED_MS + ms,
    detail: {},
    ...more,
  };
}

export function job(state: JobState, more: Partial<Job> = {}): Job {
  return {
    id: "job_00000000000000000000000000000001" as JobId,
    model: OWN,
    createdAtMs: CREATED_MS,
    acceptedAtMs: ACCEPTED_MS,
    deadlineAtMs: null,
    state,
    ...more,
  } as Job;
}

export function moved(reason: DecisionReason, atMs: number, numbers: Record<string, number> = {}): Decision {
  const id = "dec_1" as DecisionId;
  return { id, reason, kind: "swap", wallMs: CREATED_MS + atMs, atMs: ACCEPTED_MS + atMs, numbers } as Decision;
}

const START = { startedAtMs: ACCEPTED_MS, finishedAtMs: ACCEPTED_MS };
export const STATES = {
  queued: { status: "queued" },
  running: { status: "running", startedAtMs: ACCEPTED_MS } as JobState,
  succeeded: { status: "succeeded", ...START },
  failed: {
    status: "failed",
    ...START,
    error: { code: "backend_error", message: "The engine answered 502.\nupstream: connection reset." },
  },
  expired: { status: "expired", finishedAtMs: ACCEPTED_MS },
} as const satisfies Record<string, JobState>;
export const cancelled = (reason: CancelReason): JobState => ({ status: "cancelled", ...START, reason });

export function life(state: JobState, parts: readonly Part[], more: Partial<Life> & { job?: Job } = {}): Life {
  const runMs = parts.reduce((sum, { cause, ms }) => sum + (cause === "running" ? ms : 0), 0);
  const totalMs = parts.reduce((sum, { ms }) => sum + ms, 0);
  return {
    job: job(state),
    final: state.status !== "queued" && state.status !== "running",
    parts,
    stretches: parts,
    totalMs,
    waitMs: totalMs - runMs,
    runMs,
    decisions: [],
    moved: null,
    ...more,
  };
}

const answer = (firstTokenMs: number, generatingMs: number, begun = true) => ({ firstTokenMs, generatingMs, begun });

/** One part for each cause, for each rule of `held`, and for each detail that changes the words. */
export const PARTS: readonly (readonly [name: string, part: Part])[] = [
  ...CAUSES.filter((cause) => cause !== "held").map((cause) => [cause, part(cause, 61_000)] as const),
  ...RULES.map((rule) => [`held ${rule}`, part("held", 61_000, { rule })] as const),
  ["held, nobody knows by whom", part("held", 61_000, { rule: null, by: null })],
  ["held no_room, by nobody", part("held", 61_000, { rule: "no_room", by: null })],
  ["own_queue, nobody first", part("own_queue", 61_000, { detail: { wentFirst: { jobs: 0, higher: 0 } } })],
  ["own_queue behind 1", part("own_queue", 61_000, { detail: { wentFirst: { jobs: 1, higher: 1 } } })],
  ["own_queue behind 1,200", part("own_queue", 61_000, { detail: { wentFirst: { jobs: 1_200, higher: 4 } } })],
  ["own_queue behind 2 of its band", part("own_queue", 61_000, { detail: { wentFirst: { jobs: 2, higher: 0 } } })],
  ["running, a stream", part("running", 6_000, { detail: { answer: answer(800, 5_200) } })],
  ["running, a stream not begun", part("running", 6_000, { detail: { answer: answer(6_000, 0, false) } })],
  ["held own_move, by hand", part("held", 61_000, { rule: "own_move", by: null, detail: { who: "ada" } })],
  ["held own_move, by a name not shown", part("held", 61_000, { rule: "own_move", by: null, detail: { who: null } })],
  ["held switching_other, taken out", part("held", 61_000, { rule: "switching_other", detail: { goes: true } })],
  ["held switching_other, by hand", part("held", 61_000, { rule: "switching_other", detail: { who: "local" } })],
  ["held pinned, by hand", part("held", 61_000, { rule: "pinned", detail: { who: "ada" } })],
  ...(["download", "cold", "warm", "wake"] as const).map(
    (tier) => [`loading ${tier}`, part("loading", 61_000, { detail: { tier } })] as const,
  ),
  ["draining 1", part("draining", 61_000, { detail: { running: 1 } })],
  ["draining 3", part("draining", 61_000, { detail: { running: 3 } })],
  ["paused router", part("paused", 61_000, { detail: { scope: "router", who: "local", note: null } })],
  ["paused device", part("paused", 61_000, { detail: { scope: "device", who: "ada", note: "new fans." } })],
  ["paused model", part("paused", 61_000, { detail: { scope: "model", who: "ada", note: 'said "stop"\nand left' } })],
  [
    "model_broken with its error",
    part("model_broken", 61_000, { detail: { error: "It ended with code 1.\nlog line\nCUDA out of memory.\n" } }),
  ],
  [
    "lost_attempt 2",
    part("lost_attempt", 61_000, { stretches: 2, detail: { attempt: 2, outcome: "lost: engine gone" } }),
  ],
  ["lost_attempt 1", part("lost_attempt", 61_000, { detail: { attempt: 1, outcome: "failed: 502 Bad Gateway." } })],
  ["retry_backoff 1", part("retry_backoff", 61_000, { detail: { attempt: 1, outcome: "busy: 429" } })],
  ["share_limit 1", part("share_limit", 61_000, { detail: { limit: 1 } })],
  ["share_limit 4", part("share_limit", 61_000, { detail: { limit: 4 } })],
];

export const NASTY: readonly StretchDetail[] = [
  {},
  { error: "" },
  { error: "  ...  \n\n" },
  { outcome: "a".repeat(5_000) },
  { outcome: "tabs\tand\u0000nulls\u2028and 1 jobs" },
  { running: 0, limit: 0, attempt: 0, wentFirst: { jobs: 0, higher: 0 } },
  { wentFirst: { jobs: 1, higher: 0 }, answer: answer(0, 0) },
  { note: '"', who: "" },
];
