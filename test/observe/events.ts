// One example of each kind of event, with values that are easy to recognise in a log or a metric.

import type { Decision } from "../../src/domain/decision.ts";
import type { RouterEvent } from "../../src/domain/event.ts";
import type { BatchId, DecisionId, DeviceId, InstanceId, JobId, ModelName } from "../../src/domain/ids.ts";
import { DEFAULT_POOL } from "../../src/domain/ids.ts";

export const job = "job_0199aaaaaaaa7000800000000000000a" as JobId;
export const chat = "chat" as ModelName;
export const code = "code" as ModelName;
export const gpu0 = "gpu0" as DeviceId;
const instance = "ins_0199aaaaaaaa7000800000000000000b" as InstanceId;

export const swap: Decision = {
  id: "dec_0199aaaaaaaa7000800000000000000c" as DecisionId,
  pool: DEFAULT_POOL,
  policy: "model-score",
  atMs: 60_000,
  wallMs: 60_001,
  sentence: "Swapped chat for code: 14.5 beats 0.",
  kind: "swap",
  reason: "challenger_wins",
  guard: null,
  device: gpu0,
  load: code,
  evict: [chat],
  resident: [{ model: chat, forMs: 42_000, idleMs: 0 }],
  models: [
    {
      model: chat,
      depth: 0,
      oldestWaitMs: 0,
      priority: 1,
      terms: { age_term: 0, depth_term: 0 },
      switchCost: 0,
      score: 0,
      eligible: true,
      whyNot: null,
    },
    {
      model: code,
      depth: 3,
      oldestWaitMs: 15_000,
      priority: 1,
      terms: { age_term: 15, depth_term: 1.5 },
      switchCost: 2,
      score: 14.5,
      eligible: true,
      whyNot: null,
    },
  ],
  jobs: [job],
  nextLookAtMs: null,
};

type ByType = { readonly [Type in RouterEvent["type"]]: Extract<RouterEvent, { readonly type: Type }> };

/** A kind of event that is added must be added here too: the type says so. */
const BY_TYPE: ByType = {
  "memory.over_claim": { type: "memory.over_claim", model: chat, device: gpu0, claimedGiB: 18, measuredGiB: 21.5 },
  "job.accepted": { type: "job.accepted", job, model: chat, band: "normal", durable: true },
  "job.dispatched": {
    type: "job.dispatched",
    job,
    model: chat,
    band: "normal",
    priority: 3,
    attempt: 1,
    dispatch: { decision: swap.id, score: 14.5, queueWaitMs: 2_500, reorder: "priority" },
  },
  pause: {
    type: "pause",
    pause: { scope: "device", subject: gpu0, who: "ann", note: "a new fan", fromMs: 0, toMs: null },
  },
  preload: { type: "preload", model: chat, source: "hint", outcome: "hit" },
  prediction: { type: "prediction", model: chat, source: "cron", outcome: "miss" },
  "job.first_byte": { type: "job.first_byte", job, model: chat },
  "job.requeued": { type: "job.requeued", job, model: chat, charge: "attempt", detail: "the engine answered 500" },
  "job.finished": {
    type: "job.finished",
    job,
    model: chat,
    band: "normal",
    status: "cancelled",
    reason: "lease_expired",
    error: null,
    waitMs: 2_500,
    runMs: 1_250,
  },
  "job.estimated": {
    type: "job.estimated",
    of: "answer",
    job,
    model: chat,
    band: "normal",
    estimatedMs: 40_000,
    actualMs: 50_000,
    hit: true,
  },
  "job.stale_outcome": { type: "job.stale_outcome", job, model: chat },
  decision: { type: "decision", decision: swap },
  "load.started": { type: "load.started", model: code, device: gpu0, instance },
  "load.progress": { type: "load.progress", model: code, device: gpu0, phase: "loading", progress: 0.5 },
  "load.finished": {
    type: "load.finished",
    model: code,
    device: gpu0,
    instance,
    outcome: "failed",
    tookMs: 8_000,
    detail: "out of memory",
  },
  "unload.finished": { type: "unload.finished", model: chat, device: gpu0, tookMs: 500, memory: "free", swap: true },
  "drain.overdue": { type: "drain.overdue", model: chat, device: gpu0, aborted: 2 },
  "instance.lost": { type: "instance.lost", model: chat, device: gpu0, detail: "connection refused" },
  "device.phase": { type: "device.phase", device: gpu0, phase: "loading", atMs: 1_000 },
  breaker: { type: "breaker", model: code, state: "open", retryAtMs: 90_000 },
  "batch.changed": {
    type: "batch.changed",
    batch: "batch_01" as BatchId,
    status: "completed",
    total: 3,
    completed: 2,
    failed: 1,
  },
  "webhook.attempted": {
    ...{ type: "webhook.attempted", endpoint: "hooks.example.com", event: "batch.completed", id: "evt_01", attempt: 2 },
    ...{ outcome: "failed", status: 500, detail: "it answered 500", tookMs: 12 },
  },
  "batch.stalled": { type: "batch.stalled", batch: "batch_01" as BatchId, detail: "ENOSPC" },
  "store.unavailable": { type: "store.unavailable", verb: "claim", detail: "the disk is full" },
  recovered: { type: "recovered", requeued: 4, poisoned: 1, dropped: 2 },
  "instance.adopted": { type: "instance.adopted", model: chat, device: gpu0, instance },
  "instance.stuck": { type: "instance.stuck", model: chat, device: gpu0, restart: true },
  "shadow.disagreed": { type: "shadow.disagreed", device: gpu0, policy: "longest", done: "stay", wished: "move" },
  tuning: {
    type: "tuning",
    tuning: {
      state: "shadow",
      atMs: 0,
      untilMs: 1,
      policy: "model-score",
      set: { maxWaitSeconds: 240 },
      base: { maxWaitSeconds: 120 },
      watchMs: 1_000,
      reason: "asked for by an operator",
    },
  },
  "device.blocked": { type: "device.blocked", device: gpu0, detail: "memory did not come back", untilMs: 70_000 },
};

export const oneOfEach: readonly RouterEvent[] = Object.values(BY_TYPE);
