// Callers without a receipt: an open socket that waits, or closes before the answer and perhaps comes back.

import { sleepUntil } from "../../src/domain/clock.ts";
import { isFinal, type Job } from "../../src/domain/job.ts";
import type { Listener } from "../../src/engine/relay.ts";
import type { Result } from "../../src/store/store.ts";
import { accept, received, refused } from "./callers.ts";
import type { Entry } from "./ledger.ts";
import type { Router, Site } from "./site.ts";

export const ORPHAN_MS = 10_000;

/** A socket's end: the whole answer, or the caller hung up. */
interface Ending {
  readonly job: Job | null;
  readonly result: Result | null;
  readonly streamed: Uint8Array | null;
}

export async function callSync(site: Site, entry: Entry): Promise<void> {
  const { clock, ledger } = site;
  const { plan } = entry;
  let mayDrop = plan.behaviour === "sync_drop";
  for (let tries = 0; tries < 20; tries++) {
    entry.triedAtMs = clock.nowMs();
    ledger.counts.submitted++;
    const reply = await site.call((router) => hold(site, router, entry, mayDrop));
    entry.held = false;
    if (reply.kind === "error") return refused(site, entry, reply.error);
    if (reply.kind === "ok") {
      const { job } = reply.value;
      if (job !== null) return settle(site, entry, reply.value);
      mayDrop = false;
      if (plan.key === null || plan.repeatAfterMs === null) return;
      await sleepUntil(clock, clock.nowMs() + Math.min(plan.repeatAfterMs, 2 * ORPHAN_MS));
      continue;
    }
    ledger.counts.cut++;
    if (plan.key === null && reply.kind === "cut") return;
    await sleepUntil(clock, clock.nowMs() + 5_000);
  }
}

async function hold(site: Site, router: Router, entry: Entry, mayDrop: boolean): Promise<Ending> {
  const { clock } = site;
  const { plan } = entry;
  const chunks: Uint8Array[] = [];
  let settleSocket: (ending: Ending) => void = () => {};
  const ended = new Promise<Ending>((resolve) => {
    settleSocket = resolve;
  });
  const live = {
    head: () => {},
    chunk: (bytes: Uint8Array) => {
      chunks.push(bytes);
    },
  };
  const listener: Listener = {
    live: plan.stream ? live : null,
    done: (job, result) => settleSocket({ job, result, streamed: plan.stream ? Buffer.concat(chunks) : null }),
  };
  const accepted = await accept(router, plan, "sync", listener);
  entry.held = true;
  entry.interestMs = plan.leaseMs;
  await received(site, entry, accepted);
  if (isFinal(accepted.job.state.status)) {
    const result = entry.durable ? await router.store.result(accepted.job.id) : null;
    return { job: accepted.job, result, streamed: null };
  }
  const hangUp = mayDrop ? clock.at(clock.nowMs() + plan.patienceMs, () => settleSocket(GONE)) : null;
  const ending = await ended;
  hangUp?.cancel();
  // Its router has died meanwhile, and this socket with it: the caller has gone on without it.
  if (router.mortal.dead) return ending;
  if (ending === GONE) {
    entry.interestMs = plan.key === null ? 0 : ORPHAN_MS;
    accepted.detach();
    accepted.hold?.drop(entry.interestMs);
  } else accepted.hold?.release();
  entry.held = false;
  entry.triedAtMs = clock.nowMs();
  entry.heardAtMs = clock.nowMs();
  return ending;
}

const GONE: Ending = { job: null, result: null, streamed: null };

function settle(site: Site, entry: Entry, { job, result, streamed }: Ending): void {
  const { clock, ledger } = site;
  if (job === null) return;
  site.saw(entry, job);
  if (!isFinal(job.state.status)) ledger.violate(clock.nowMs(), `${job.id} is told done while ${job.state.status}`);
  if (job.state.status !== "succeeded") return;
  if (streamed !== null && streamed.byteLength > 0) site.checkAnswer(entry, streamed);
  else if (result !== null) site.checkAnswer(entry, result.body);
  else if (streamed === null) ledger.violate(clock.nowMs(), `${job.id} succeeded and its socket got no answer`);
}
