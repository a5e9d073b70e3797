// What operators have paused, with who and why: the router, devices, models. Each is written down and holds after a
// restart: whoever stops a box to work on it must not find it loading models because the machine came up again.

import type { DeviceId, ModelName } from "../domain/ids.ts";
import type { Pause, PauseScope } from "../domain/pause.ts";
import type { EngineWorld } from "./state.ts";

/** Who asks, and what they want others to read. */
export interface PauseWords {
  readonly who: string;
  readonly note: string | null;
}

type World = Pick<EngineWorld, "models" | "settings" | "clock" | "store" | "emit">;

export class Pauses {
  readonly #world: () => World;
  readonly #open = new Map<string, Pause>();

  constructor(world: () => World) {
    this.#world = world;
  }

  /** What an earlier router was told, and nobody has taken back. What is not configured any more is paused no more. */
  async recover(): Promise<void> {
    const { models, store, clock } = this.#world();
    const past = await store.history.pauses({ fromMs: clock.nowMs(), toMs: Number.MAX_SAFE_INTEGER });
    for (const pause of past) if (pause.toMs === null) this.#open.set(keyOf(pause.scope, pause.subject), pause);
    const devices = this.#world().settings.devices.map(({ id }): string => id);
    const names = new Set<string>([...devices, ...models.keys()]);
    for (const { scope, subject } of this.all) if (subject !== null && !names.has(subject)) this.end(scope, subject);
    for (const [name, entry] of models) if (this.model(name) !== null) entry.paused = true;
  }

  get all(): Pause[] {
    return [...this.#open.values()];
  }

  get router(): Pause | null {
    return this.#open.get(keyOf("router", null)) ?? null;
  }

  device(id: DeviceId): Pause | null {
    return this.#open.get(keyOf("device", id)) ?? null;
  }

  model(name: ModelName): Pause | null {
    return this.#open.get(keyOf("model", name)) ?? null;
  }

  /**
   * What keeps a model's jobs from starting: the router, the model itself, or every device that it may use (of one that is
   * loaded across several: any of them). Null: nothing of this kind.
   */
  over(model: {
    readonly name: ModelName;
    readonly devices: readonly DeviceId[];
    readonly across?: boolean;
  }): Pause | null {
    const whole = this.router ?? this.model(model.name);
    if (whole !== null || model.devices.length === 0) return whole;
    const held = model.devices.map((id) => this.device(id));
    const first = held.find((each) => each !== null) ?? null;
    return model.across === true || held.every((each) => each !== null) ? first : null;
  }

  /** A pause of what is paused already replaces its words. */
  begin(scope: PauseScope, subject: Pause["subject"], { who, note }: PauseWords): void {
    const { clock, store, emit } = this.#world();
    const pause: Pause = { scope, subject, who, note, fromMs: clock.nowMs(), toMs: null };
    this.#open.set(keyOf(scope, subject), pause);
    store.append([{ type: "pause", pause }]);
    emit({ type: "pause", pause });
  }

  /** False: it was not paused. */
  end(scope: PauseScope, subject: Pause["subject"]): boolean {
    const open = this.#open.get(keyOf(scope, subject));
    if (open === undefined) return false;
    const { clock, store, emit } = this.#world();
    const pause = { ...open, toMs: clock.nowMs() };
    this.#open.delete(keyOf(scope, subject));
    store.append([{ type: "pause", pause }]);
    emit({ type: "pause", pause });
    return true;
  }
}

const keyOf = (scope: PauseScope, subject: Pause["subject"]): string => `${scope} ${subject ?? ""}`;
