// What the engine expects of the future: hints and rhythms made into forecasts for the scheduler, arrivals told to both,
// and an account of what was loaded ahead of need and whether it was used.

import { bandOf } from "../domain/band.ts";
import type { PreloadTerms } from "../domain/decision.ts";
import { SirError } from "../domain/errors.ts";
import type { Hint } from "../domain/hint.ts";
import type { CallerId, DeviceId, HintId, ModelName } from "../domain/ids.ts";
import type { Expectation, Forecast, PreloadBudget } from "../scheduler/forecast.ts";
import { type Prediction, Rhythm, type Settled } from "../scheduler/rhythm.ts";
import type { ForecastStatus, HintView, NewHint, PreloadingStatus } from "./control.ts";
import { ended, HintBook, isForgotten, isOver, leadMs, stateOf, type Window, windowOf } from "./hint-book.ts";
import type { LiveJob } from "./live-job.ts";
import type { Page } from "./notebook.ts";
import { PreloadLedger, type PreloadOutcome } from "./preload-ledger.ts";
import { SessionMeter } from "./sessions.ts";
import type { PreloadSettings } from "./settings.ts";
import { type EngineWorld, expectedLoadMs, type ModelEntry } from "./state.ts";

const HINT_PROBABILITY = 0.9;
const HINTS_OF_CALLER = 100;
const HINTS_OF_ALL = 1_000;
/** Of one model's hints so many are looked at, the earliest first. */
const HINTS_AHEAD = 4;
/** A learned source acts once so many of its predictions for the model were scored ... */
const EARNS_AFTER = { cron: 8, daily: 4 } as const;
/** ... and this share of them came true. */
const EARNS_SHARE = 0.6;
/** The starts' own probability counts as so many predictions beside those that were scored. */
const PRIOR_WEIGHT = 4;
/** A session that begins a little after it was expected is still in time. */
const SLACK_MS = 30_000;
const NEED_MS = 120_000;
const SWEEP_MS = 60_000;
const OFF: PreloadSettings = {
  mode: false,
  share: 0,
  mostMs: 0,
  price: 0,
  weights: { interactive: 0, normal: 0, batch: 0 },
};

interface Known {
  readonly sessions: SessionMeter;
  readonly rhythm: Rhythm;
}

type World = Pick<EngineWorld, "clock" | "ids" | "store" | "emit" | "models" | "settings" | "wake">;

export class Foresight {
  readonly #world: () => World;
  readonly #isHere: (model: ModelName) => boolean;
  readonly #known = new Map<ModelName, Known>();
  readonly #book = new HintBook();
  readonly #ledger = new PreloadLedger();
  #sinceMs = Number.POSITIVE_INFINITY;
  #sweepAtMs = 0;

  /** @param isHere The model is loaded, or on its way. */
  constructor(world: () => World, isHere: (model: ModelName) => boolean) {
    this.#world = world;
    this.#isHere = isHere;
  }

  /** At boot: the hints, and what earlier routers have seen of each model's rhythm. */
  async recover(): Promise<void> {
    const { store, clock } = this.#world();
    for (const hint of await store.hints.all(null)) this.#book.put(hint);
    for (const session of await store.hints.sessions()) {
      const { sessions, rhythm } = this.#of(session.model);
      sessions.remember(session);
      rhythm.started(session.startedAtMs);
    }
    this.#sinceMs = clock.nowMs();
  }

  /** A job was accepted. What earlier routers accepted, they have counted. */
  arrived(entry: ModelEntry, { acceptedAtMs, band }: LiveJob): void {
    if (acceptedAtMs < this.#sinceMs || this.#settings.mode === false) return;
    const { spec } = entry;
    const { sessions, rhythm } = this.#of(spec.name);
    const { began, log } = sessions.arrived(acceptedAtMs, this.#settings.weights[band], expectedLoadMs(entry));
    if (log.length > 0) this.#world().store.append(log.map((session) => ({ type: "session" as const, session })));
    if (began) this.#tellPredictions(spec.name, rhythm.started(acceptedAtMs));
    this.#tellPreloads(this.#ledger.arrived(spec.name, this.#isHere(spec.name), acceptedAtMs));
    for (const hint of this.#book.of(spec.name)) {
      const { fromMs, untilMs } = this.#windowOf(hint, entry);
      if (!isOver(hint) && acceptedAtMs >= fromMs && acceptedAtMs < untilMs) this.#end(hint, "met");
    }
  }

  /** What time alone settles. Called at every pass. */
  passed(): void {
    const { clock, models } = this.#world();
    const nowMs = clock.nowMs();
    for (const [model, { rhythm }] of this.#known) this.#tellPredictions(model, rhythm.passed(nowMs));
    this.#tellPreloads(this.#ledger.passed(nowMs));
    if (nowMs < this.#sweepAtMs) return;
    this.#sweepAtMs = nowMs + SWEEP_MS;
    for (const hint of this.#book.all(null)) {
      const window = this.#windowOf(hint, models.get(hint.model));
      if (isForgotten(hint, window, nowMs)) this.#forget(hint.id);
      else if (!isOver(hint) && window.untilMs <= nowMs) this.#end(hint, "missed");
      else if (!isOver(hint)) this.#sweepAtMs = Math.min(this.#sweepAtMs, window.untilMs);
    }
  }

  /** Null: nothing is known of its future. */
  forecastOf(entry: ModelEntry): Forecast | null {
    const { mode } = this.#settings;
    if (mode === false) return null;
    const { name } = entry.spec;
    const known = this.#known.get(name);
    const hints = this.#hintsAhead(entry);
    const predictions = known?.rhythm.predictions ?? [];
    if (hints.length === 0 && predictions.length === 0) return null;
    const loadMs = expectedLoadMs(entry);
    const told = hints.map((hint) => this.#expectedBy(hint, this.#windowOf(hint, entry)));
    const learned = predictions.map((each) => this.#expectedFrom(name, each, loadMs));
    const said = hints.map(({ jobs, priority }) => (jobs ?? 1) * this.#settings.weights[bandOf(priority)]);
    return { burst: Math.max(known?.sessions.burst ?? 0, ...said), expected: [...told, ...learned] };
  }

  /** What was spent on loads ahead of need, and whether they were used. */
  get page(): Page {
    const ledger = this.#ledger;
    return { key: "preloads", write: () => ledger.noted(), read: (note) => ledger.recall(note) };
  }

  /** Null: nothing is loaded ahead of need. */
  budgetOf(device: DeviceId): PreloadBudget | null {
    const { mode } = this.#settings;
    return mode === false ? null : this.#ledger.budgetOf(device, this.#settings, this.#world().clock.nowMs());
  }

  /** The device begins such a load. */
  began(device: DeviceId, terms: PreloadTerms): void {
    const entry = this.#world().models.get(terms.model);
    const open = entry === undefined ? null : this.forecastOf(entry);
    const need = open?.expected.find(({ source, dueAtMs }) => source === terms.source && dueAtMs === terms.dueAtMs);
    const neededByMs = Math.max(need?.untilMs ?? 0, terms.dueAtMs + terms.loadMs + NEED_MS);
    this.#ledger.began(device, terms, need?.untilMs ?? neededByMs, neededByMs, this.#settings);
  }

  calledOff(model: ModelName): void {
    this.#tellPreloads(this.#ledger.calledOff(model, this.#world().clock.nowMs()));
  }

  /** @throws {SirError} too_many_hints */
  async add(asked: NewHint): Promise<HintView> {
    const { store, clock, ids, wake } = this.#world();
    const hint: Hint = { ...asked, id: ids.next("hint"), createdAtMs: clock.wallMs(), last: null };
    const added = await store.hints.add(hint, { ofCaller: HINTS_OF_CALLER, ofAll: HINTS_OF_ALL });
    if (added === "too_many") {
      throw new SirError(
        "too_many_hints",
        `There are as many hints as there may be: ${HINTS_OF_CALLER} of one caller, ${HINTS_OF_ALL} in all. Remove some, or try again once some are over.`,
      );
    }
    this.#book.put(hint);
    this.#sweepAtMs = 0;
    wake("change");
    return this.#viewOf(hint);
  }

  list(caller: CallerId): HintView[] {
    this.#sweepAtMs = 0;
    this.passed();
    return this.#book.all(caller).map((hint) => this.#viewOf(hint));
  }

  /** False: the caller has no such hint. */
  async remove(caller: CallerId, id: HintId): Promise<boolean> {
    if (this.#book.get(id)?.caller !== caller) return false;
    await this.#world().store.hints.remove(id);
    this.#book.drop(id);
    this.#world().wake("change");
    return true;
  }

  status(): PreloadingStatus {
    const nowMs = this.#world().clock.nowMs();
    const { mode } = this.#settings;
    return { mode, hint: this.#ledger.statusOf("hint", nowMs), learned: this.#ledger.statusOf("learned", nowMs) };
  }

  forecastStatusOf(entry: ModelEntry): ForecastStatus | null {
    const forecast = this.forecastOf(entry);
    const records = this.#known.get(entry.spec.name)?.rhythm.records;
    if (forecast === null && (records === undefined || records.cron.count + records.daily.count === 0)) return null;
    const { cron, daily } = records ?? { cron: null, daily: null };
    return {
      burst: forecast?.burst ?? 0,
      expected: forecast?.expected ?? [],
      cron: { hits: cron?.hits ?? 0, predictions: cron?.count ?? 0 },
      daily: { hits: daily?.hits ?? 0, predictions: daily?.count ?? 0 },
    };
  }

  get #settings(): PreloadSettings {
    return this.#world().settings.preloading ?? OFF;
  }

  #of(model: ModelName): Known {
    let known = this.#known.get(model);
    if (known === undefined) {
      known = { sessions: new SessionMeter(model), rhythm: new Rhythm() };
      this.#known.set(model, known);
    }
    return known;
  }

  #hintsAhead({ spec }: ModelEntry): Hint[] {
    const ahead: Hint[] = [];
    for (const hint of this.#book.of(spec.name)) {
      if (!isOver(hint)) ahead.push(hint);
      if (ahead.length === HINTS_AHEAD) break;
    }
    return ahead;
  }

  #windowOf(hint: Hint, entry: ModelEntry | undefined): Window {
    const { clock } = this.#world();
    return windowOf(hint, entry === undefined ? 0 : expectedLoadMs(entry), clock.wallMs() - clock.nowMs());
  }

  #expectedBy(hint: Hint, window: Window): Expectation {
    const actsFromMs = this.#ledger.actsFromMs(hint.model, "hint");
    return { source: "hint", ...window, probability: HINT_PROBABILITY, actsFromMs, hint: hint.id };
  }

  #expectedFrom(
    model: ModelName,
    { source, dueAtMs, toleranceMs, probability }: Prediction,
    loadMs: number,
  ): Expectation {
    const { records } = this.#of(model).rhythm;
    const { hits, count } = records[source];
    const acts = this.#settings.mode === "auto" && records[source].reaches(EARNS_AFTER[source], EARNS_SHARE);
    return {
      source,
      dueAtMs,
      fromMs: dueAtMs - leadMs(loadMs),
      untilMs: dueAtMs + Math.max(SLACK_MS, toleranceMs),
      probability: (hits + PRIOR_WEIGHT * probability) / (count + PRIOR_WEIGHT),
      actsFromMs: acts ? this.#ledger.actsFromMs(model, "learned") : Number.POSITIVE_INFINITY,
      hint: null,
    };
  }

  #viewOf(hint: Hint): HintView {
    const { clock, models } = this.#world();
    const nowMs = clock.nowMs();
    const window = this.#windowOf(hint, models.get(hint.model));
    const acts = this.#settings.mode !== false && this.#ledger.statusOf("hint", nowMs).pausedUntilMs === null;
    const expiresAtMs = window.untilMs + clock.wallMs() - nowMs;
    return { hint, state: stateOf(hint, window, nowMs), expiresAtMs, acts };
  }

  #end(hint: Hint, last: "met" | "missed"): void {
    const { store, clock } = this.#world();
    const next = ended(hint, last, clock.wallMs());
    this.#book.put(next);
    this.#whenever("hints.note", store.hints.note(next));
  }

  #forget(id: HintId): void {
    this.#book.drop(id);
    this.#whenever("hints.remove", this.#world().store.hints.remove(id));
  }

  /** Memory goes on with it; should the store not have it, an old hint comes back after a restart, and ends again. */
  #whenever(verb: string, write: Promise<unknown>): void {
    write.catch((error: unknown) => {
      const detail = error instanceof Error ? error.message : String(error);
      this.#world().emit({ type: "store.unavailable", verb, detail });
    });
  }

  #tellPredictions(model: ModelName, settled: readonly Settled[]): void {
    for (const { source, right } of settled) {
      this.#world().emit({ type: "prediction", model, source, outcome: right ? "hit" : "miss" });
    }
  }

  #tellPreloads(outcomes: readonly PreloadOutcome[]): void {
    for (const each of outcomes) this.#world().emit({ type: "preload", ...each });
  }
}
