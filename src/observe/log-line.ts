// Which level an event has and which fields. error: somebody must act; warn: degraded; info: something changed that an
// owner asks about; debug: the rest.

import type { Decision } from "../domain/decision.ts";
import type { RouterEvent } from "../domain/event.ts";
import type { Pause } from "../domain/pause.ts";

type Fields = Readonly<Record<string, unknown>>;

export interface Line {
  readonly level: "error" | "warn" | "info" | "debug";
  readonly text: string;
  /** Made only when the level is on. */
  fields(): Fields;
}

/** Engines' last words may be long; they are cut here. */
const LONGEST_DETAIL = 300;

const line = (level: Line["level"], text: string, fields: () => Fields): Line => ({ level, text, fields });
const cut = (detail: string): string =>
  detail.length > LONGEST_DETAIL ? `${detail.slice(0, LONGEST_DETAIL)}…` : detail;
const ms = (value: number): number => Math.round(value * 1000) / 1000;
const secondsOf = (valueMs: number): number => Math.round(valueMs) / 1000;

export function lineOf(event: RouterEvent): Line {
  return event.type.startsWith("job.") ? jobLine(event as JobLike) : otherLine(event as Exclude<RouterEvent, JobLike>);
}

type JobLike = Extract<RouterEvent, { readonly job: unknown }>;

function jobLine(event: JobLike): Line {
  const ids = { job: event.job, model: event.model };
  switch (event.type) {
    case "job.accepted":
      return line("debug", "accepted", () => ({ ...ids, band: event.band, durable: event.durable }));
    case "job.dispatched": {
      const { decision, score, queueWaitMs, reorder } = event.dispatch;
      const { band, priority, attempt } = event;
      const rest = { band, priority, attempt, decision, score, queue_wait_ms: ms(queueWaitMs), reorder };
      return line("debug", "dispatched", () => ({ ...ids, ...rest }));
    }
    case "job.first_byte":
      return line("debug", "first byte", () => ids);
    case "job.requeued": {
      const level = event.charge === "none" ? "info" : "warn";
      return line(level, "queued again", () => ({ ...ids, charge: event.charge, detail: cut(event.detail) }));
    }
    case "job.finished": {
      const { band, status, reason, error, waitMs, runMs } = event;
      const rest = { band, status, reason, error_code: error?.code ?? null, wait_ms: ms(waitMs), run_ms: ms(runMs) };
      return line(status === "failed" ? "warn" : "info", status, () => ({ ...ids, ...rest }));
    }
    case "job.estimated": {
      const { band, of, estimatedMs, actualMs, hit } = event;
      const rest = { band, of, estimated_ms: ms(estimatedMs), actual_ms: ms(actualMs), hit };
      return line("debug", "estimate and outcome", () => ({ ...ids, ...rest }));
    }
    case "job.stale_outcome":
      return line("info", "an outcome came too late and was dropped", () => ids);
  }
}

function otherLine(event: Exclude<RouterEvent, JobLike>): Line {
  switch (event.type) {
    case "decision":
      return line("info", event.decision.sentence, () => decisionFields(event.decision));
    case "load.started":
    case "load.progress":
    case "load.finished":
    case "unload.finished":
    case "drain.overdue":
    case "instance.lost":
    case "instance.adopted":
      return residencyLine(event);
    case "device.blocked": {
      const { device, detail, untilMs } = event;
      return line("warn", `${device} is blocked`, () => ({ device, detail: cut(detail), until_ms: ms(untilMs) }));
    }
    case "memory.over_claim": {
      const { model, device, claimedGiB, measuredGiB } = event;
      const sizes = { claimed_gib: claimedGiB, measured_gib: Math.round(measuredGiB * 10) / 10 };
      return line("warn", `${model} takes more of ${device} than memoryGiB claims`, () => ({
        model,
        device,
        ...sizes,
      }));
    }
    case "shadow.disagreed": {
      const { device, policy, done, wished } = event;
      return line("debug", `in shadow, ${policy} would have ${wished === "stay" ? "stayed" : "moved"}`, () => ({
        device,
        policy,
        done,
        wished,
      }));
    }
    case "tuning": {
      const { state, policy, set, reason } = event.tuning;
      const level = state === "returned" || state === "dropped" ? "warn" : "info";
      return line(level, `tuned settings: ${state}: ${reason}`, () => ({ state, policy, set }));
    }
    case "pause":
      return pauseLine(event.pause);
    case "instance.stuck": {
      const { model, device, restart } = event;
      return line("error", "an engine makes no progress", () => ({ model, device, restart }));
    }
    case "device.phase": {
      const { device, phase, atMs } = event;
      return line("debug", `${device} ${phase}`, () => ({ device, phase, at_ms: ms(atMs) }));
    }
    case "breaker": {
      const { model, state, retryAtMs } = event;
      const retry = retryAtMs === null ? null : ms(retryAtMs);
      return line(state === "open" ? "warn" : "info", `breaker ${state}`, () => ({ model, state, retry_at_ms: retry }));
    }
    case "batch.changed": {
      const { batch, status, total, completed, failed } = event;
      return line("info", `batch ${status}`, () => ({ batch, status, total, completed, failed }));
    }
    case "webhook.attempted": {
      const { endpoint, id, attempt, outcome, status, detail, tookMs } = event;
      const level = outcome === "delivered" ? "debug" : outcome === "failed" ? "info" : "warn";
      const rest = { type: event.event, id, attempt, status, detail, took_ms: ms(tookMs) };
      return line(level, `webhook ${outcome}`, () => ({ endpoint, ...rest }));
    }
    case "batch.stalled":
      return line("error", "a batch cannot go on", () => ({ batch: event.batch, detail: cut(event.detail) }));
    case "preload": {
      const { model, source, outcome } = event;
      const text = outcome === "hit" ? "loaded ahead and used" : "loaded ahead in vain";
      return line("info", text, () => ({ model, source, outcome }));
    }
    case "prediction": {
      const { model, source, outcome } = event;
      return line("debug", `prediction ${outcome}`, () => ({ model, source, outcome }));
    }
    case "store.unavailable":
      return line("error", "the store did not answer", () => ({ verb: event.verb, detail: cut(event.detail) }));
    case "recovered": {
      const { requeued, poisoned, dropped } = event;
      return line("info", "recovered what an earlier router left", () => ({ requeued, poisoned, dropped }));
    }
  }
}

function pauseLine({ scope, subject, who, note, toMs }: Pause): Line {
  const text = `${toMs === null ? "paused" : "resumed"} ${subject ?? "the router"}`;
  return line("info", text, () => ({ scope, subject, who, note }));
}

type ResidencyEvent = Extract<
  RouterEvent,
  {
    type:
      | "load.started"
      | "load.progress"
      | "load.finished"
      | "unload.finished"
      | "drain.overdue"
      | "instance.lost"
      | "instance.adopted";
  }
>;

function residencyLine(event: ResidencyEvent): Line {
  const ids = { model: event.model, device: event.device };
  switch (event.type) {
    case "load.started":
      return line("info", "loading", () => ({ ...ids, instance: event.instance }));
    case "load.progress":
      return line("debug", event.phase, () => ({ ...ids, phase: event.phase, progress: event.progress }));
    case "load.finished": {
      const { instance, outcome, tookMs, detail } = event;
      const rest = { instance, outcome, took_ms: ms(tookMs), detail: detail === null ? null : cut(detail) };
      const level = outcome === "failed" || outcome === "timeout" ? "warn" : "info";
      return line(level, `load ${outcome}`, () => ({ ...ids, ...rest }));
    }
    case "unload.finished": {
      const { tookMs, memory, swap } = event;
      return line("info", "unloaded", () => ({ ...ids, took_ms: ms(tookMs), memory, swap }));
    }
    case "drain.overdue":
      return line("warn", "drain took too long", () => ({ ...ids, aborted: event.aborted }));
    case "instance.adopted":
      return line("info", "adopted an engine that was running", () => ({ ...ids, instance: event.instance }));
    case "instance.lost":
      return line("warn", "engine lost", () => ({ ...ids, detail: cut(event.detail) }));
  }
}

function decisionFields(decision: Decision): Fields {
  return {
    decision: decision.id,
    pool: decision.pool,
    kind: decision.kind,
    reason: decision.reason,
    guard: decision.guard,
    policy: decision.policy,
    device: decision.device,
    load: decision.load,
    evict: decision.evict,
    at_ms: ms(decision.atMs),
    wall_ms: ms(decision.wallMs),
    resident: decision.resident.map(({ model, forMs, idleMs }) => ({
      model,
      for_seconds: secondsOf(forMs),
      idle_seconds: secondsOf(idleMs),
    })),
    models: decision.models.map((each) => ({
      model: each.model,
      depth: each.depth,
      oldest_wait_seconds: secondsOf(each.oldestWaitMs),
      priority: each.priority,
      ...each.terms,
      switch_cost: each.switchCost,
      score: each.score,
      eligible: each.eligible,
      why_not: each.whyNot,
    })),
    jobs: decision.jobs,
    next_look_at_ms: decision.nextLookAtMs === null ? null : ms(decision.nextLookAtMs),
  };
}
