// Callers: each is one async walk along its plan, over a router that may be down, die in mid-call and come back.

import { sleepUntil } from "../../src/domain/clock.ts";
import { SirError } from "../../src/domain/errors.ts";
import { type JobId, LOCAL_CALLER } from "../../src/domain/ids.ts";
import { isFinal, type Job } from "../../src/domain/job.ts";
import type { Listener } from "../../src/engine/relay.ts";
import type { Accepted, IncomingCall, PreparedCall } from "../../src/intake/intake.ts";
import { LIMITS } from "./facts.ts";
import { type Entry, endedUnwanted, type Plan } from "./ledger.ts";
import type { Router, Site } from "./site.ts";
import { callSync } from "./sync-callers.ts";
import { lateFinish } from "./zombies.ts";

const EXPECTED = new Set(["queue_full", "storage_full", "store_unavailable", "draining", "no_backend"]);
const RETRY_MS = 5_000;

export async function walk(site: Site, plan: Plan): Promise<void> {
  const { clock, ledger } = site;
  const entry = ledger.open(plan);
  try {
    await sleepUntil(clock, site.startMs + plan.atMs);
    if (plan.behaviour === "sync" || plan.behaviour === "sync_drop") await callSync(site, entry);
    else if (await submit(site, entry)) await follow(site, entry);
  } catch (error) {
    ledger.violate(
      clock.nowMs(),
      `${plan.tag}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
    );
  }
  entry.over = true;
}

/** True once a receipt has come. Without a key a cut call is given up: nobody knows whether there is a job. */
async function submit(site: Site, entry: Entry): Promise<boolean> {
  const { clock, ledger } = site;
  for (let tries = 0; tries < 40; tries++) {
    entry.triedAtMs = clock.nowMs();
    ledger.counts.submitted++;
    const reply = await site.call((router) => accept(router, entry.plan, "async"));
    if (reply.kind === "ok") {
      await received(site, entry, reply.value);
      return true;
    }
    if (reply.kind === "error") {
      refused(site, entry, reply.error);
      return false;
    }
    ledger.counts.cut++;
    if (reply.kind === "cut" && entry.plan.key === null) return false;
    await sleepUntil(clock, clock.nowMs() + RETRY_MS);
  }
  return false;
}

export async function received(site: Site, entry: Entry, accepted: Accepted): Promise<void> {
  const { clock, ledger } = site;
  if (accepted.replayed) ledger.counts.replays++;
  if (entry.id !== null && entry.id !== accepted.job.id) await replaced(site, entry, accepted.job.id);
  ledger.acknowledge(entry, accepted.job);
  site.saw(entry, accepted.job);
  entry.heardAtMs = clock.nowMs();
  entry.triedAtMs = clock.nowMs();
}

/** 15: same key, same job; only a job that ended by a lapsed lease or a closed socket lets its key start anew. */
async function replaced(site: Site, entry: Entry, by: JobId): Promise<void> {
  const before = entry.id;
  if (before === null) return;
  const reply = await site.call((router) => router.store.job(before));
  if (reply.kind !== "ok" || endedUnwanted(reply.value)) return;
  const was = reply.value === null ? "is not stored" : JSON.stringify(reply.value.state);
  site.ledger.violate(
    site.clock.nowMs(),
    `${entry.plan.tag}: the same key gave ${before}, then ${by}; the first ${was}`,
  );
}

export function refused(site: Site, entry: Entry, error: unknown): void {
  const { clock, ledger } = site;
  ledger.counts.refused++;
  if (error instanceof SirError && EXPECTED.has(error.code)) return;
  ledger.violate(
    clock.nowMs(),
    `${entry.plan.tag} is refused: ${error instanceof Error ? error.stack : String(error)}`,
  );
}

async function follow(site: Site, entry: Entry): Promise<void> {
  const { clock, ledger } = site;
  const { plan } = entry;
  const acceptedAtMs = clock.nowMs();
  let repeated = plan.repeatAfterMs === null;
  for (;;) {
    const nowMs = clock.nowMs();
    if (plan.behaviour === "abandon" && nowMs - acceptedAtMs >= plan.patienceMs) return;
    if (ledger.counts.polls >= LIMITS.polls) return;
    if (!repeated && nowMs - acceptedAtMs >= (plan.repeatAfterMs ?? 0)) {
      repeated = true;
      await repeat(site, entry);
    }
    if (plan.behaviour === "cancel" && nowMs - acceptedAtMs >= plan.patienceMs) {
      await cancel(site, entry);
      return;
    }
    const job = await poll(site, entry);
    if (job !== null && isFinal(job.state.status)) {
      await read(site, entry, job);
      if (!repeated) await repeat(site, entry);
      return;
    }
    await sleepUntil(clock, clock.nowMs() + plan.pollEveryMs);
  }
}

/** One GET; with `?wait=` for those that hold. Null: the router could not be reached. */
async function poll(site: Site, entry: Entry): Promise<Job | null> {
  const { clock, ledger } = site;
  const { id, plan } = entry;
  if (id === null) return null;
  entry.triedAtMs = clock.nowMs();
  ledger.counts.polls++;
  const reply = await site.call(async (router) => {
    const job = await router.store.job(id);
    if (job === null || isFinal(job.state.status)) return job;
    router.engine.renew(id);
    entry.heardAtMs = clock.nowMs();
    if (plan.behaviour !== "long_poll") return job;
    entry.held = true;
    const hold = router.engine.hold(id);
    const final = await router.engine.finished(id, clock.nowMs() + 2 * plan.leaseMs);
    hold.release();
    return final ?? (await router.store.job(id));
  });
  entry.held = false;
  entry.triedAtMs = clock.nowMs();
  if (reply.kind === "error") throw reply.error;
  if (reply.kind !== "ok") return null;
  entry.heardAtMs = clock.nowMs();
  if (reply.value === null) {
    ledger.violate(clock.nowMs(), `${id} was accepted and is not found`);
    return null;
  }
  site.saw(entry, reply.value);
  return reply.value;
}

async function cancel(site: Site, entry: Entry): Promise<void> {
  const { clock, ledger } = site;
  const { id } = entry;
  if (id === null) return;
  for (let tries = 0; tries < 3; tries++) {
    entry.triedAtMs = clock.nowMs();
    const reply = await site.call((router) => router.engine.cancel(id, "client"));
    if (reply.kind === "error") throw reply.error;
    if (reply.kind === "ok") {
      if (reply.value === null) {
        ledger.violate(clock.nowMs(), `${id} was accepted and cannot be cancelled: not found`);
        return;
      }
      const { job } = reply.value;
      if (!isFinal(job.state.status)) ledger.violate(clock.nowMs(), `${id} is ${job.state.status} after a cancel`);
      site.saw(entry, job);
      const claim = reply.value.changed ? site.claims.of(id) : null;
      if (claim !== null) await site.call((router) => lateFinish(site, router, claim));
      return;
    }
    await sleepUntil(clock, clock.nowMs() + RETRY_MS);
  }
}

/** The answer, twice: reading removes nothing and changes nothing. */
async function read(site: Site, entry: Entry, job: Job): Promise<void> {
  const { clock, ledger } = site;
  if (job.state.status !== "succeeded") return;
  for (let times = 0; times < 2; times++) {
    const reply = await site.call(async (router) => {
      const result = await router.store.result(job.id);
      router.store.markRead(job.id);
      return result;
    });
    if (reply.kind === "error") throw reply.error;
    if (reply.kind !== "ok") return;
    if (reply.value === null) {
      ledger.violate(clock.nowMs(), `${job.id} succeeded and has no answer`);
      return;
    }
    site.checkAnswer(entry, reply.value.body);
  }
}

/** The same key with the same body, then with another one. */
async function repeat(site: Site, entry: Entry): Promise<void> {
  const { clock, ledger } = site;
  const { plan } = entry;
  const same = await site.call((router) => accept(router, plan, "async"));
  if (same.kind === "ok") {
    await received(site, entry, same.value);
  } else if (same.kind === "error") refused(site, entry, same.error);
  const other = await site.call((router) => accept(router, { ...plan, tag: `${plan.tag}-other` }, "async"));
  if (other.kind === "ok") {
    if (!endedByNow(entry)) ledger.violate(clock.nowMs(), `${plan.tag}: another body is accepted under the same key`);
  } else if (other.kind === "error") {
    const reused = other.error instanceof SirError && other.error.code === "idempotency_key_reused";
    if (!reused) refused(site, entry, other.error);
  }
}

function endedByNow(entry: Entry): boolean {
  return entry.final?.state.status === "cancelled";
}

export async function accept(
  router: Router,
  plan: Plan,
  mode: "async" | "sync",
  listener?: Listener,
): Promise<Accepted> {
  const prepared: PreparedCall = await router.intake.prepare(incoming(router, plan, mode));
  return router.intake.accept(prepared, mode, listener);
}

function incoming(router: Router, plan: Plan, mode: "async" | "sync"): IncomingCall {
  const bytes = Buffer.from(
    JSON.stringify({
      model: plan.model,
      user: plan.tag,
      stream: plan.stream,
      messages: [{ role: "user", content: "hi" }],
    }),
  );
  router.hardware.bodies.set(plan.tag, bytes);
  const headers: Record<string, string> = {
    "content-type": "application/json",
    "sir-priority": String(plan.priority),
    "sir-lease": String(plan.leaseMs / 1_000),
  };
  if (mode === "async") headers["prefer"] = "respond-async";
  if (plan.key !== null) headers["idempotency-key"] = plan.key;
  if (plan.deadlineMs !== null) headers["cancel-after"] = `${Math.ceil(plan.deadlineMs / 1_000)}s`;
  return {
    endpoint: "/v1/chat/completions",
    caller: LOCAL_CALLER,
    header: (name) => headers[name] ?? null,
    body: (async function* () {
      yield bytes;
    })(),
  };
}
