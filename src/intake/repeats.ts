// Synchronous requests whose callers repeat them when they get no answer. A repetition meets the job that its caller left
// behind: while that keeps its place, or with the answer that was finished in between.

import type { Clock, Timer } from "../domain/clock.ts";
import type { CallerId } from "../domain/ids.ts";
import type { Job } from "../domain/job.ts";
import type { EngineControl } from "../engine/control.ts";
import type { Result } from "../store/store.ts";
import { createBudget } from "./admission.ts";

/** Answers that nobody has taken yet, in memory for as long as their caller may come back. */
const MAX_BYTES = 64 * 1024 * 1024;

interface RepeatsDeps {
  readonly engine: Pick<EngineControl, "isOrphan" | "relay">;
  readonly clock: Clock;
  /** How long a finished answer waits for its caller. */
  readonly orphanMs: number;
}

/** One request that may be repeated; its job is known to this process only. */
export interface Repeatable {
  readonly job: Job;
  /** Makes the job durable. */
  keep(): Promise<Job | null>;
  /** Its caller left: from now on a stream's bytes are kept, unless some have gone already. */
  left(): void;
  /** Nobody will repeat it: its answer was delivered, or others look after it. Safe to call twice. */
  forget(): void;
}

interface Entry extends Repeatable {
  /** Part of a stream is with the caller who left, so nobody else can have it. */
  torn: boolean;
  ended: { readonly job: Job; readonly result: Result } | null;
}

export type Left =
  | { readonly kind: "live"; readonly request: Repeatable }
  | { readonly kind: "ended"; readonly job: Job; readonly result: Result };

export class Repeats {
  readonly #deps: RepeatsDeps;
  readonly #entries = new Map<string, Set<Entry>>();
  readonly #memory = createBudget(MAX_BYTES);

  constructor(deps: RepeatsDeps) {
    this.#deps = deps;
  }

  /** @param repeat Endpoint and content, as a digest. */
  enter(caller: CallerId, repeat: Uint8Array, job: Job, keep: () => Promise<Job | null>): Repeatable {
    const { engine, clock, orphanMs } = this.#deps;
    const key = keyOf(caller, repeat);
    const entries = this.#entries.get(key) ?? new Set();
    this.#entries.set(key, entries);
    let bytes = 0;
    let timer: Timer | null = null;
    const entry: Entry = {
      job,
      torn: false,
      ended: null,
      keep,
      left: () => {
        if (job.stream && !engine.relay.keep(job.id)) entry.torn = true;
      },
      forget: () => {
        timer?.cancel();
        this.#memory.give(bytes);
        bytes = 0;
        entries.delete(entry);
        if (entries.size === 0 && this.#entries.get(key) === entries) this.#entries.delete(key);
      },
    };
    engine.relay.attach(job.id, {
      live: null,
      done: (final, result) => {
        if (!entries.has(entry)) return;
        if (result === null || !this.#memory.take(result.body.byteLength)) return entry.forget();
        bytes = result.body.byteLength;
        entry.ended = { job: final, result };
        timer = clock.at(clock.nowMs() + orphanMs, entry.forget);
      },
    });
    entries.add(entry);
    return entry;
  }

  /** What the caller left behind under this digest, if anything; an answer is handed out once. */
  find(caller: CallerId, repeat: Uint8Array): Left | null {
    for (const entry of this.#entries.get(keyOf(caller, repeat)) ?? []) {
      if (entry.ended !== null) {
        const { job, result } = entry.ended;
        entry.forget();
        return { kind: "ended", job, result };
      }
      if (!entry.torn && this.#deps.engine.isOrphan(entry.job.id)) return { kind: "live", request: entry };
    }
    return null;
  }
}

function keyOf(caller: CallerId, repeat: Uint8Array): string {
  return `${Buffer.from(repeat).toString("base64")} ${caller}`;
}
