// One claimed job on one slot: body to the engine, answer to the relay, outcome to the store under the claim's fence.

import type { Call, Outcome, Sink } from "../backends/backend.ts";
import type { OwnerId } from "../domain/ids.ts";
import { type Job, transition } from "../domain/job.ts";
import { type AttemptEnd, type Body, type Fence, type Finish, type Requeue, StoreError } from "../store/store.ts";
import { callOf } from "./call.ts";
import type { DeviceUnit } from "./device.ts";
import { graceAfter } from "./grace.ts";
import type { Lifecycle } from "./lifecycle.ts";
import { type LiveJob, phaseOf } from "./live-job.ts";
import type { RelayHub } from "./relay-hub.ts";
import { respond } from "./respond.ts";
import { afterAttempt, BACK_OFF_MAX_MS, backOffMs, type Next } from "./retry.ts";
import { type EngineWorld, learnWork, type ModelEntry, noteWork, noticedOf, type Residency } from "./state.ts";

/** An answer that is kept may not be larger. */
const RESULT_LIMIT_BYTES = 256 * 1024 * 1024;
const STORE_RETRY_FIRST_MS = 250;
const STORE_RETRY_MAX_MS = 10_000;

export interface Slot {
  readonly live: LiveJob;
  /** As claimed: running, with its epoch. */
  readonly job: Job;
  readonly entry: ModelEntry;
  readonly residency: Residency;
  /** Null for models that are always on. */
  readonly device: DeviceUnit | null;
}

export class Attempts {
  readonly #world: EngineWorld;
  readonly #owner: OwnerId;
  readonly #relay: RelayHub;
  readonly #lifecycle: Lifecycle;
  readonly #running = new Set<Promise<void>>();

  constructor(world: EngineWorld, owner: OwnerId, relay: RelayHub, lifecycle: Lifecycle) {
    this.#world = world;
    this.#owner = owner;
    this.#relay = relay;
    this.#lifecycle = lifecycle;
  }

  /** Resolves when every attempt has settled. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  /** The slot is taken already (`residency.running`); frees it when the engine call is over. */
  start(slot: Slot): void {
    const running = this.#attempt(slot).catch((error: unknown) => this.#world.fatal(error));
    this.#running.add(running);
    void running.then(() => this.#running.delete(running));
  }

  /** Frees the slot of a pick whose claim was refused. */
  free(slot: Pick<Slot, "live" | "residency" | "device" | "entry">): void {
    const { live, residency, entry } = slot;
    if (!residency.running.has(live.id)) return;
    noteWork(entry, residency, this.#world.clock.nowMs());
    residency.running.delete(live.id);
    slot.device?.slotFreed(residency);
    this.#world.wake("completion");
  }

  async #attempt(slot: Slot): Promise<void> {
    const { live, job } = slot;
    const abort = new AbortController();
    live.abort = abort;
    live.phase = "running";
    live.runningSinceMs = this.#world.clock.nowMs();
    live.firstByteAtMs = null;
    this.#relay.start(live.id, live.durable || !live.stream);
    this.#lifecycle.notify(live.id);
    const { clock, settings } = this.#world;
    const began = noteWork(slot.entry, slot.residency, clock.nowMs());
    const seen: Seen = { answered: false, tooLarge: false, over: false };
    const grace = graceAfter(abort.signal, settings.cancelGraceMs, clock);
    const outcome = await Promise.race([this.#run(slot, abort, seen), grace.over]);
    seen.over = true;
    grace.cancel();
    if (outcome.kind === "succeeded" || outcome.kind === "refused") slot.residency.progressAtMs = clock.nowMs();
    if (outcome.kind === "succeeded") learnWork(slot.entry, slot.residency, began, clock.nowMs());
    this.free(slot);
    live.abort = null;
    if (phaseOf(live) === "ending") await live.ending;
    if (phaseOf(live) !== "running") return;
    live.phase = "settling";
    const next = afterAttempt(outcome, {
      attempts: job.attempts,
      interruptions: job.interruptions,
      maxAttempts: settings.maxAttempts,
      maxInterruptions: settings.maxInterruptions,
      delivered: this.#relay.delivered(live.id),
      interruption: abort.signal.reason === "shutdown" ? "shutdown" : abort.signal.aborted ? "drain" : null,
    });
    const detail = "detail" in outcome ? outcome.detail : null;
    await this.#settle(slot, next, { ...noticedOf(this.#world, live), outcome: outcome.kind, detail });
    this.#watchEngine(slot, outcome);
  }

  async #run(slot: Slot, abort: AbortController, seen: Seen): Promise<Outcome> {
    const { live, job, entry, residency } = slot;
    let body: Body | null;
    try {
      body = live.body ?? (await this.#world.store.body(live.id));
    } catch (error) {
      return { kind: "lost", detail: `Its body could not be read: ${wordsOf(error)}` };
    }
    if (abort.signal.aborted) return { kind: "aborted" };
    if (body === null) return { kind: "failed", code: "backend_error", detail: "Its body is no longer stored." };
    const keep = live.durable || !live.stream;
    const firstByte = (): void => {
      live.firstByteAtMs = this.#world.clock.nowMs();
      this.#world.emit({ type: "job.first_byte", job: live.id, model: live.model });
    };
    const sink: Sink = {
      head: (head) => {
        if (seen.over) return;
        seen.answered = true;
        residency.progressAtMs = this.#world.clock.nowMs();
        // Engines send a stream's head at once; its first bytes come with the first token.
        if (!job.stream) firstByte();
        if (live.phase === "running") this.#relay.head(live.id, head);
      },
      chunk: (bytes) => {
        residency.progressAtMs = this.#world.clock.nowMs();
        if (seen.over || live.phase !== "running") return;
        if (live.firstByteAtMs === null) firstByte();
        if (keep && this.#relay.keptBytes(live.id) + bytes.byteLength > RESULT_LIMIT_BYTES) {
          seen.tooLarge = true;
          abort.abort("too_large");
          return;
        }
        return this.#relay.chunk(live.id, bytes);
      },
    };
    const { backend, instance } = residency;
    const makeCall = (): Call => callOf(job, body, entry.spec, this.#world);
    const outcome =
      job.origin === "background"
        ? await respond(
            { backend, instance, makeCall, spec: entry.spec, learned: this.#world.chatOnly },
            sink,
            abort.signal,
          )
        : await backend.run(instance, makeCall(), sink, abort.signal);
    if (outcome.kind === "succeeded" && !seen.answered) {
      return { kind: "failed", code: "backend_error", detail: "The engine ended its call without an answer." };
    }
    if (!seen.tooLarge) return outcome;
    const detail = `The engine's answer is larger than ${RESULT_LIMIT_BYTES} bytes.`;
    return { kind: "failed", code: "backend_error", detail };
  }

  async #settle(slot: Slot, next: Next, end: AttemptEnd): Promise<void> {
    const { live, job } = slot;
    if (next.kind === "requeue") {
      await this.#requeue(slot, next, end);
      return;
    }
    const result = next.kind === "fail" ? null : this.#relay.result(live.id);
    const error = next.kind === "fail" ? next.error : REFUSED;
    let finish: Finish;
    if (next.kind === "succeed") finish = { kind: "succeeded", result: result ?? EMPTY };
    else finish = { kind: "failed", error, result };
    const committed = this.#write(live, () => this.#world.store.finish(this.#fence(job), finish, end));
    const final = live.durable
      ? await committed
      : this.#predict(
          job,
          next.kind === "succeed"
            ? { type: "succeed", atMs: this.#world.clock.nowMs() }
            : { type: "fail", atMs: this.#world.clock.nowMs(), error },
        );
    if (final === null) {
      await this.#superseded(live);
      return;
    }
    if (next.kind === "succeed" && job.state.status === "running") {
      slot.entry.learned.ran(this.#world.clock.nowMs() - job.state.startedAtMs);
    }
    this.#lifecycle.finalize(live, final, result);
  }

  async #requeue(slot: Slot, next: Extract<Next, { kind: "requeue" }>, end: AttemptEnd): Promise<void> {
    const { live, job, entry } = slot;
    const requeue: Requeue = { charge: next.charge, delayMs: next.delayMs };
    const committed = this.#write(live, () => this.#world.store.requeue(this.#fence(job), requeue, end));
    const row = live.durable ? await committed : requeuedInMemory(job, requeue, this.#world.clock.nowMs());
    if (phaseOf(live) === "ending") return;
    if (row === null) {
      await this.#superseded(live);
      return;
    }
    this.#relay.discard(live.id);
    if (!live.durable) live.row = row;
    live.runAfterMs = row.runAfterMs;
    const { charge, detail } = next;
    this.#world.emit({ type: "job.requeued", job: live.id, model: live.model, charge, detail });
    this.#world.changed({ type: "job", job: row });
    this.#lifecycle.enqueue(live, entry);
    this.#lifecycle.notify(live.id);
  }

  /** The fence did not match: somebody ended the job first, or an earlier try of this very write was committed. */
  async #superseded(live: LiveJob): Promise<void> {
    this.#world.emit({ type: "job.stale_outcome", job: live.id, model: live.model });
    await this.#lifecycle.resync(live);
  }

  /** Holds the outcome until the store takes it: fenced writes are safe to repeat. */
  #write(live: LiveJob, write: () => Promise<Job | null>): Promise<Job | null> {
    const written = this.#writeHeld(live, write);
    if (!live.durable) written.catch((error: unknown) => this.#world.fatal(error));
    return written;
  }

  async #writeHeld(live: LiveJob, write: () => Promise<Job | null>): Promise<Job | null> {
    const { clock } = this.#world;
    for (let delayMs = STORE_RETRY_FIRST_MS; ; delayMs = Math.min(STORE_RETRY_MAX_MS, delayMs * 2)) {
      try {
        return await write();
      } catch (error) {
        if (!(error instanceof StoreError)) throw error;
        this.#world.emit({ type: "store.unavailable", verb: "finish", detail: error.message });
        if (!live.durable) return null;
        await new Promise<void>((resolve) => void clock.at(clock.nowMs() + delayMs, resolve));
      }
    }
  }

  #predict(job: Job, event: Parameters<typeof transition>[1]): Job | null {
    const state = transition(job.state, event);
    return state === null ? null : { ...job, state };
  }

  #fence(job: Job): Fence {
    return { id: job.id, epoch: job.epoch, owner: this.#owner };
  }

  /**
   * A lost or busy engine is not asked again at once by every queued job; a dead one leaves the resident set. For how long
   * follows from the engine's own record: a request that is poison to it must not hold up the others.
   */
  #watchEngine(slot: Slot, outcome: Outcome): void {
    const { entry } = slot;
    if (outcome.kind === "succeeded" || outcome.kind === "refused") entry.troubles = 0;
    if (outcome.kind !== "lost" && outcome.kind !== "busy") return;
    const { clock } = this.#world;
    const asked = outcome.kind === "busy" ? outcome.retryAfterMs : null;
    const delayMs = Math.min(asked ?? backOffMs(entry.troubles), BACK_OFF_MAX_MS);
    entry.troubles++;
    entry.holdOffUntilMs = Math.max(entry.holdOffUntilMs, clock.nowMs() + delayMs);
    this.#world.wake("change");
    const { device, residency } = slot;
    if (outcome.kind === "busy" || device === null || !device.residents.includes(residency)) return;
    const { signal } = new AbortController();
    const { detail } = outcome;
    residency.backend.alive(residency.instance, signal).then(
      (alive) => {
        if (!alive) device.lost(residency, detail);
      },
      () => device.lost(residency, detail),
    );
  }
}

/** What has come of one attempt so far. */
interface Seen {
  /** Its head has come. */
  answered: boolean;
  tooLarge: boolean;
  /** Its slot is free and its outcome is taken: what it still sends is nobody's. */
  over: boolean;
}

const REFUSED = {
  code: "engine_refused",
  message: "The engine refused the request; its answer is in the result.",
} as const;
const EMPTY = { status: 200, headers: {}, body: new Uint8Array() };

function requeuedInMemory(job: Job, requeue: Requeue, nowMs: number): Job {
  const { charge, delayMs } = requeue;
  return {
    ...job,
    state: { status: "queued" },
    epoch: job.epoch + 1,
    attempts: charge === "attempt" ? job.attempts : job.attempts - 1,
    interruptions: charge === "interruption" ? job.interruptions + 1 : job.interruptions,
    runAfterMs: delayMs === 0 ? 0 : nowMs + delayMs,
  };
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
