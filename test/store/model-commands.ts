// The steps of the model-based test: what each does to the real store, and what it must mean.

import fc from "fast-check";
import { expect } from "vitest";
import type { CancelReason } from "../../src/domain/job.ts";
import { answer, authority, claimed, ENDED, fenceOf, INTERRUPTED, jobOf, keyed, newJob } from "./given.ts";
import { CAP, compare, ends, isLive, type Model, type ModelJob, type Real, restart, TTL_MS } from "./model.ts";

export type Step = fc.AsyncCommand<Model, Real>;

function step(name: string, run: (model: Model, real: Real) => Promise<void>, when: (model: Model) => boolean): Step {
  return {
    check: when,
    async run(model, real) {
      await run(model, real);
      await compare(model, real);
    },
    toString: () => name,
  };
}

const always = (): boolean => true;
const anyJob = (model: Model): boolean => model.jobs.length > 0;
const pick = <T>(list: readonly T[], i: number): T => list[i % list.length] as T;

function submit(key: string | null, request: string): Step {
  return step(
    `submit(${key}, ${request})`,
    async (model, real) => {
      const text = `{"n":${model.jobs.length}}`;
      const job = key === null ? newJob({ text }) : keyed(key, request, { body: newJob({ text }).body });
      const outcome = await real.store.add(job);
      const held = model.jobs.findLast((each) => key !== null && each.key === key);
      const free = held?.status === "cancelled" && (held.reason === "lease_expired" || held.reason === "disconnect");
      if (held === undefined || free) {
        expect(outcome.kind).toBe("added");
        model.jobs.push(accepted(jobOf(outcome).id, key, request, text));
      } else if (held.request === request) {
        expect(outcome.kind).toBe("replayed");
        expect(jobOf(outcome).id).toBe(held.id);
      } else expect(outcome.kind).toBe("key_reused");
    },
    always,
  );
}

function accepted(id: ModelJob["id"], key: string | null, request: string, text: string): ModelJob {
  const counts = { epoch: 0, attempts: 0, interruptions: 0, finishedAtMs: 0 };
  const rest = { reason: null, result: null, bytesGone: false, events: ["queued"] };
  return { id, key, request, text, status: "queued", ...counts, ...rest };
}

function claim(i: number): Step {
  return step(
    `claim(${i})`,
    async (model, real) => {
      const job = pick(model.jobs, i);
      if (job.status !== "queued") {
        await expect(claimed(real.store, real.owner, job.id)).rejects.toThrow("could not be claimed");
        return;
      }
      const running = await claimed(real.store, real.owner, job.id);
      job.status = "running";
      job.epoch++;
      job.attempts++;
      job.events.push("started");
      model.tokens.push({ job, fence: fenceOf(running) });
    },
    anyJob,
  );
}

function finish(i: number): Step {
  return step(
    `finish(token ${i})`,
    async (model, real) => {
      const { job, fence } = pick(model.tokens, i);
      const text = `answer of epoch ${fence.epoch}`;
      const done = await real.store.finish(fence, { kind: "succeeded", result: answer(text) }, ENDED);
      const holds = job.status === "running" && job.epoch === fence.epoch && fence.owner === real.owner;
      expect(done !== null, "a stale outcome was taken, or a good one refused").toBe(holds);
      if (!holds) return;
      ends(job, "succeeded", real.clock.nowMs(), "completed");
      job.result = text;
    },
    (model) => model.tokens.length > 0,
  );
}

function requeue(i: number, charge: "attempt" | "interruption" | "none"): Step {
  return step(
    `requeue(token ${i}, ${charge})`,
    async (model, real) => {
      const { job, fence } = pick(model.tokens, i);
      const back = await real.store.requeue(fence, { charge, delayMs: 0 }, INTERRUPTED);
      const holds = job.status === "running" && job.epoch === fence.epoch && fence.owner === real.owner;
      expect(back !== null).toBe(holds);
      if (!holds) return;
      job.status = "queued";
      job.epoch++;
      if (charge !== "attempt") job.attempts--;
      if (charge === "interruption") job.interruptions++;
      job.events.push("requeued");
    },
    (model) => model.tokens.length > 0,
  );
}

/** Without its guard, as somebody might write it. */
const CANCEL_ANY = `
  UPDATE jobs SET status = 4, epoch = epoch + 1, owner = NULL, instance = NULL, error_code = NULL, error_message = NULL,
    cancel_reason = ?, finished_ms = ? WHERE id = ?`;

function cancel(i: number, reason: CancelReason): Step {
  return step(
    `cancel(${i}, ${reason})`,
    async (model, real) => {
      const job = pick(model.jobs, i);
      const live = isLive(job);
      if (real.bug === "cancels final jobs" && !live) {
        real.database.prepare(CANCEL_ANY).run(reason, real.clock.nowMs(), job.id);
        return;
      }
      const end = await real.store.end(job.id, { type: "cancel", reason });
      expect(end).toMatchObject({ changed: live, before: job.status });
      if (!live) return;
      job.epoch++;
      job.reason = reason;
      ends(job, "cancelled", real.clock.nowMs(), "cancelled");
    },
    anyJob,
  );
}

function advance(byMs: number): Step {
  return step(
    `advance(${byMs})`,
    async (model, real) => {
      await real.clock.runUntil(real.clock.nowMs() + byMs);
      while (await real.store.prune());
      const nowMs = real.clock.nowMs();
      for (const job of model.jobs) if (!isLive(job) && job.finishedAtMs + TTL_MS <= nowMs) job.bytesGone = true;
    },
    always,
  );
}

function purge(i: number): Step {
  return step(
    `purge(${i})`,
    async (model, real) => {
      const job = pick(model.jobs, i);
      await real.store.purge(job.id);
      if (!isLive(job)) job.bytesGone = true;
    },
    anyJob,
  );
}

/** Killed at the commit of one more submission, which nobody hears of; then opened again and recovered. */
function crash(phase: "before" | "after"): Step {
  return step(
    `crash(${phase})`,
    async (model, real) => {
      const text = `{"lost":${model.jobs.length}}`;
      const unheard = newJob({ text });
      real.armed = phase;
      void real.store.add(unheard);
      await real.clock.settle();
      await restart(real);
      if (phase === "after") model.jobs.push(accepted(unheard.id, null, "", text));
      if (real.bug !== "no recovery") {
        await real.store.recover(authority(real.owner), await real.store.deadOwners(), CAP);
      }
      for (const job of model.jobs) if (job.status === "running") interrupted(job, real.clock.nowMs());
    },
    always,
  );
}

function interrupted(job: ModelJob, atMs: number): void {
  job.epoch++;
  job.attempts--;
  job.interruptions++;
  if (job.interruptions >= CAP) ends(job, "failed", atMs, "failed");
  else {
    job.status = "queued";
    job.events.push("requeued");
  }
}

const place = fc.nat(20);
export const steps: fc.Arbitrary<Step>[] = [
  fc.tuple(fc.constantFrom(null, null, "a", "b"), fc.constantFrom("r1", "r2")).map(([k, r]) => submit(k, r)),
  place.map(claim),
  place.map(finish),
  fc.tuple(place, fc.constantFrom("attempt", "interruption", "none")).map(([i, c]) => requeue(i, c)),
  fc.tuple(place, fc.constantFrom("client", "lease_expired", "disconnect")).map(([i, r]) => cancel(i, r)),
  fc.integer({ min: 1, max: TTL_MS }).map(advance),
  place.map(purge),
  fc.constantFrom("before", "after").map(crash),
];
