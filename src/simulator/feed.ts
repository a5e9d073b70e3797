// Hands a workload's jobs to the engine at their instants, and those that follow from what a run does.

import { createHash } from "node:crypto";
import { DEFAULT_POOL, type JobId, LOCAL_CALLER, type ModelName } from "../domain/ids.ts";
import type { NewJob } from "../store/store.ts";
import type { Simulation, SimulationSettings } from "./assembly.ts";
import type { Recorder } from "./recorder.ts";
import { bodyOfLength } from "./timed-backend.ts";
import { type Arrival, type Reaction, type Workload, workMsOf } from "./workload.ts";

const NO_HASH = new Uint8Array(32);

export class Feed {
  /** Jobs that are still to be submitted. */
  left = 0;
  /** The first submission that went wrong. */
  failure: unknown = null;
  readonly #simulation: Simulation;
  readonly #recorder: Recorder;
  readonly #workload: Workload;
  readonly #settings: SimulationSettings;
  readonly #reaction: Reaction | null;
  readonly #startMs: number;
  readonly #models: ReadonlyMap<string, Workload["models"][number]>;

  constructor(simulation: Simulation, recorder: Recorder, workload: Workload, settings: SimulationSettings) {
    this.#simulation = simulation;
    this.#recorder = recorder;
    this.#workload = workload;
    this.#settings = settings;
    this.#reaction = workload.react?.() ?? null;
    this.#startMs = simulation.clock.nowMs();
    this.#models = new Map(workload.models.map((model) => [model.name, model]));
  }

  start(): void {
    for (const arrival of this.#workload.arrivals) this.#expect(arrival);
  }

  loaded(model: string): void {
    const nowMs = this.#simulation.clock.nowMs() - this.#startMs;
    for (const arrival of this.#reaction?.loaded(model, nowMs) ?? []) this.#expect(arrival);
  }

  #expect(arrival: Arrival): void {
    this.left++;
    this.#simulation.clock.at(this.#startMs + arrival.atMs, () => {
      this.left--;
      this.#submit(arrival).catch((error: unknown) => {
        this.failure ??= error;
      });
    });
  }

  async #submit(arrival: Arrival): Promise<void> {
    const { store, engine, ids } = this.#simulation;
    const added = await store.add(this.#newJob(ids.next("job"), arrival));
    if (added.kind !== "added") throw new Error(`the store refused a simulated job: ${added.kind}`);
    this.#recorder.arrived(added.job.id, arrival);
    engine.admit(added.job, null);
    if (this.#settings.asks) await engine.queue.place(added.job);
  }

  #newJob(id: JobId, arrival: Arrival): NewJob {
    const lean = this.#settings.lean === true;
    const bytes = lean ? this.#length(arrival) : requestOf(arrival);
    return {
      id,
      pool: DEFAULT_POOL,
      caller: LOCAL_CALLER,
      model: arrival.model as ModelName,
      endpoint: "/v1/chat/completions",
      priority: this.#settings.blind ? 0 : arrival.priority,
      stream: false,
      leaseMs: null,
      deadlineMs: null,
      traceparent: null,
      clientRequestId: null,
      metadata: {},
      idempotency: null,
      body: {
        contentType: "application/json",
        sizeBytes: bytes.byteLength,
        sha256: lean ? NO_HASH : createHash("sha256").update(bytes).digest(),
        headers: {},
        modelSpan: null,
        source: { kind: "bytes", bytes },
      },
    };
  }

  #length(arrival: Arrival): Uint8Array {
    const model = this.#models.get(arrival.model);
    if (model === undefined) throw new Error(`the workload has no model "${arrival.model}"`);
    return bodyOfLength(workMsOf(model, arrival));
  }
}

/** What the mock driver reads. */
function requestOf({ model, tokens }: Arrival): Uint8Array {
  return Buffer.from(JSON.stringify({ model, max_tokens: tokens, messages: [{ role: "user", content: "." }] }));
}
