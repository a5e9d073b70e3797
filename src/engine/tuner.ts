// The life of settings that were tuned: a day in shadow, then obeyed and watched, then kept; taken back at once when they
// do harm. The file is never written: the newest row in the store holds, and the owner's file wins whenever it changes.

import type { Clock, Timer } from "../domain/clock.ts";
import type { Emit } from "../domain/event.ts";
import { isInForce, type SettingValues, type Tuning } from "../domain/tuning.ts";
import { bindPolicy } from "../scheduler/policies/registry.ts";
import type { BoundPolicy } from "../scheduler/policy.ts";
import type { Store } from "../store/store.ts";
import type { TunerControl, TuningWish } from "./control.ts";
import type { ShadowSettings } from "./settings.ts";

/** How often settings that are obeyed on trial are judged. */
const JUDGE_EVERY_MS = 3_600_000;

/** What the configuration says without any tuning. */
export interface OwnSettings {
  /** The scheduler's section as written. */
  readonly scheduler: Readonly<Record<string, unknown>>;
  readonly policy: BoundPolicy;
  readonly shadow: ShadowSettings | null;
}

export interface Judgement {
  readonly harm: boolean;
  /** Which band, and by how much; or why nothing can be said. */
  readonly sentence: string;
}

export interface TunerParts {
  readonly store: Pick<Store, "append" | "ping" | "history">;
  readonly clock: Clock;
  readonly emit: Emit;
  readonly own: OwnSettings;
  /** Makes the engine decide by these from now on. */
  apply(settings: Pick<OwnSettings, "policy" | "shadow">): Promise<void>;
  /** Whether what is obeyed on trial has done harm since. Absent: nobody judges, so nothing is ever obeyed. */
  judge?(tuning: Tuning, nowMs: number): Promise<Judgement>;
}

export class Tuner implements TunerControl {
  readonly #parts: TunerParts;
  #own: OwnSettings;
  #tuning: Tuning | null = null;
  #timer: Timer | null = null;
  #judging: Promise<void> = Promise.resolve();

  constructor(parts: TunerParts) {
    this.#parts = parts;
    this.#own = parts.own;
  }

  get current(): Tuning | null {
    return this.#tuning;
  }

  /** Takes up what an earlier router left; the engine runs already. */
  async start(): Promise<void> {
    const [last] = await this.#parts.store.history.tunings(1);
    if (last !== undefined && !isOver(last)) this.#tuning = last;
    await this.adopt(this.#own);
  }

  /** The configuration was read again: where its settings are no longer those that were tuned, it wins. */
  async adopt(own: OwnSettings): Promise<void> {
    this.#own = own;
    const tuning = this.#tuning;
    if (tuning !== null && !isOver(tuning) && !this.#isBaseOf(tuning)) {
      await this.#enter({
        ...tuning,
        state: "dropped",
        untilMs: null,
        reason: "the configuration's own settings changed",
      });
      return;
    }
    await this.#parts.apply(this.settings());
    this.#arm();
  }

  /** What the engine is to decide by. */
  settings(): Pick<OwnSettings, "policy" | "shadow"> {
    const { policy, shadow, scheduler } = this.#own;
    const tuning = this.#tuning;
    if (tuning === null || isOver(tuning)) return { policy, shadow };
    const tuned = bindPolicy(tuning.policy, { ...scheduler, ...tuning.set });
    if (tuning.state === "shadow") return { policy, shadow: { policy: tuned, set: tuning.set } };
    // While it is on trial, what was before is asked as well.
    return { policy: tuned, shadow: tuning.state === "live" ? { policy, set: {} } : shadow };
  }

  async propose({ policy, set, base, shadowMs, watchMs }: TuningWish): Promise<Tuning | string> {
    if (this.#parts.judge === undefined) return "This router cannot judge tuned settings, so it takes none.";
    if (this.#tuning?.state === "kept")
      return "Settings were tuned and kept; write them into the configuration before more are tried.";
    if (this.#tuning !== null && !isOver(this.#tuning))
      return "Other settings are on trial; take them back first (sir tune --back).";
    const atMs = this.#parts.clock.nowMs();
    const wished: Tuning = {
      ...{ state: "shadow", atMs, untilMs: atMs + shadowMs, policy, set, base, watchMs },
      reason: "asked for by an operator",
    };
    if (!this.#isBaseOf(wished))
      return "The router's settings are not those that the proposal was made from; run sir tune again.";
    try {
      bindPolicy(policy, { ...this.#own.scheduler, ...set });
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
    await this.#enter(wished);
    await this.#parts.store.ping();
    return wished;
  }

  async giveBack(reason: string): Promise<Tuning | null> {
    const tuning = this.#tuning;
    if (tuning === null || isOver(tuning)) return null;
    const returned: Tuning = { ...tuning, state: "returned", untilMs: null, reason };
    await this.#enter(returned);
    await this.#parts.store.ping();
    return this.#tuning;
  }

  async close(): Promise<void> {
    this.#timer?.cancel();
    this.#timer = null;
    await this.#judging;
  }

  async #enter(next: Tuning): Promise<void> {
    const { store, clock, emit, apply } = this.#parts;
    const tuning = { ...next, atMs: clock.nowMs() };
    this.#tuning = tuning;
    store.append([{ type: "tuning", tuning }]);
    emit({ type: "tuning", tuning });
    await apply(this.settings());
    this.#arm();
  }

  #arm(): void {
    const { clock, emit } = this.#parts;
    this.#timer?.cancel();
    this.#timer = null;
    const tuning = this.#tuning;
    if (tuning === null || tuning.untilMs === null || isOver(tuning)) return;
    const judgedMs = tuning.state === "live" ? clock.nowMs() + JUDGE_EVERY_MS : Number.POSITIVE_INFINITY;
    this.#timer = clock.at(Math.min(tuning.untilMs, judgedMs), () => {
      this.#judging = this.#step(tuning).catch((error: unknown) => {
        const detail = error instanceof Error ? error.message : String(error);
        emit({ type: "store.unavailable", verb: "tuning", detail });
        if (this.#timer !== null) this.#arm();
      });
    });
  }

  /** At the end of a state, and hour by hour of a trial. */
  async #step(tuning: Tuning): Promise<void> {
    if (tuning.state === "shadow") await this.#endShadow(tuning);
    else await this.#look(tuning);
  }

  async #endShadow(tuning: Tuning): Promise<void> {
    const { store, clock } = this.#parts;
    const range = { fromMs: tuning.atMs, toMs: clock.nowMs(), after: null, limit: 1 };
    await store.ping();
    const { data } = await store.history.shadows(range);
    if (this.#tuning !== tuning) return;
    if (data.length === 0) {
      await this.#enter({ ...tuning, state: "returned", untilMs: null, reason: "in shadow it never disagreed" });
      return;
    }
    const untilMs = clock.nowMs() + tuning.watchMs;
    await this.#enter({ ...tuning, state: "live", untilMs, reason: "its time in shadow is over" });
  }

  async #look(tuning: Tuning): Promise<void> {
    const { clock, judge } = this.#parts;
    const nowMs = clock.nowMs();
    const judgement = await judge?.(tuning, nowMs);
    if (this.#tuning !== tuning) return;
    if (judgement?.harm === true) {
      await this.#enter({ ...tuning, state: "returned", untilMs: null, reason: judgement.sentence });
    } else if (nowMs >= (tuning.untilMs ?? Number.POSITIVE_INFINITY)) {
      const reason = `no band was harmed: ${judgement?.sentence ?? "nothing was judged"}`;
      await this.#enter({ ...tuning, state: "kept", untilMs: null, reason });
    } else this.#arm();
  }

  #isBaseOf({ policy, base }: Tuning): boolean {
    const own: SettingValues = this.#own.policy.settings ?? {};
    return this.#own.policy.name === policy && Object.entries(base).every(([key, value]) => same(own[key], value));
  }
}

function isOver(tuning: Tuning): boolean {
  return tuning.state !== "shadow" && !isInForce(tuning);
}

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);
