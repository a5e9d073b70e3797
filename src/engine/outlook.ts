// The look ahead that estimates are read from: one for everyone who asks, made anew when it is old, a slice at a time.

import type { RouterEvent } from "../domain/event.ts";
import type { DeviceId, ModelName } from "../domain/ids.ts";
import { type Arrival, Projection } from "../scheduler/projection.ts";
import type { Snapshot } from "../scheduler/snapshot.ts";
import type { Stretch } from "../scheduler/tank.ts";
import type { EngineWorld } from "./state.ts";

/** Younger ones are shared, unless something was decided since. */
const SHARED_MS = 250;
/** Of a look ahead's cost in one go: about a ms of CPU; the rest follows in slices, so that requests are served between. */
const SLICE = 150;
const SLICE_EVERY_MS = 3;
/** Those who look often are shown one of at most this age, and do not wait for the next. */
const PATIENT_MS = 2_000;
/** So long after a look ahead began the next may, for each unit it cost: a few per cent of the CPU go into them at most. */
const REST_MS = 0.4;

interface Run {
  readonly projection: Projection;
  /** Starts of each model in this router's life, when it was made. */
  readonly startedBefore: ReadonlyMap<ModelName, number>;
}

export interface Foreseen {
  readonly stretches: readonly Stretch[];
  /** Jobs of the model that have started since the look ahead was made: its positions have moved on by so many. */
  readonly started: number;
  /** False: there is more to come. */
  readonly whole: boolean;
}

export class Outlook {
  readonly #world: EngineWorld;
  readonly #look: () => readonly Snapshot[];
  readonly #started = new Map<ModelName, number>();
  #current: Run | null = null;
  #next: Run | null = null;
  #stale = false;
  /** One is about to be made for those who do not wait for it. */
  #asked = false;

  /** @param look One snapshot for each device, of this instant. */
  constructor(world: EngineWorld, look: () => readonly Snapshot[]) {
    this.#world = world;
    this.#look = look;
  }

  hear(event: RouterEvent): void {
    if (event.type === "job.dispatched") this.#started.set(event.model, (this.#started.get(event.model) ?? 0) + 1);
    else if (event.type === "decision") this.#stale = true;
  }

  /**
   * What is foreseen for the model: of the newest look ahead that is whole, else of the one that is being made.
   *
   * @param patient A new look ahead is made after this call, not in it, where there is a recent one.
   */
  of(model: ModelName, patient = false): Foreseen {
    this.#refresh(this.#current?.projection.stretches(model).length === 0, patient);
    const run = this.#current ?? this.#next;
    if (run === null) return { stretches: [], started: 0, whole: false };
    const started = (this.#started.get(model) ?? 0) - (run.startedBefore.get(model) ?? 0);
    return { stretches: run.projection.stretches(model), started, whole: run.projection.done };
  }

  /** What is loaded next on a device, or is on its way, as the newest whole look ahead has it. Patient. */
  nextOf(device: DeviceId): Arrival | null {
    this.#refresh(false, true);
    return (this.#current ?? this.#next)?.projection.nextOf(device) ?? null;
  }

  #refresh(unknown: boolean, patient: boolean): void {
    if (this.#next !== null || (patient && this.#asked)) return;
    const nowMs = this.#world.clock.nowMs();
    const last = this.#current?.projection;
    if (last !== undefined) {
      const ageMs = nowMs - last.atMs;
      if (ageMs <= SHARED_MS && !this.#stale && !unknown) return;
      if (ageMs < last.cost * REST_MS) return;
    }
    // Nobody is shown what was foreseen long ago.
    if (!patient || last === undefined || nowMs - last.atMs > PATIENT_MS) {
      this.#begin();
      return;
    }
    this.#asked = true;
    this.#world.clock.at(nowMs + SLICE_EVERY_MS, () => {
      this.#asked = false;
      if (this.#next === null) this.#begin();
    });
  }

  #begin(): void {
    this.#stale = false;
    const projection = new Projection(this.#look(), this.#world.settings.policy);
    this.#next = { projection, startedBefore: new Map(this.#started) };
    this.#goOn();
  }

  #goOn(): void {
    const run = this.#next;
    if (run === null) return;
    run.projection.advance(SLICE);
    if (run.projection.done) {
      this.#current = run;
      this.#next = null;
      return;
    }
    this.#world.clock.at(this.#world.clock.nowMs() + SLICE_EVERY_MS, () => this.#goOn());
  }
}
