// A router's own replays: one at a time on a thread of its own, the last few results kept in memory, what can be tried said
// from the same schemas that the configuration is checked with.

import { resolveConfig } from "../config/load.ts";
import { knownPolicy, requireKnownKey } from "../config/policy-words.ts";
import { ConfigError } from "../config/problem.ts";
import { readSetup, type Setup } from "../config/setup.ts";
import type { Clock } from "../domain/clock.ts";
import type { IdSource } from "../domain/ids.ts";
import type { History, Range } from "../store/history.ts";
import { type ReplayRun, startReplayThread } from "./replay-run.ts";
import type { ReplayOrder, ReplayResult } from "./replay-thread.ts";
import { type SettingChoice, settingChoices } from "./setting-choices.ts";
import { MOST_JOBS } from "./traffic.ts";
import { type Change, documentOf } from "./what-if.ts";

/** Results that are kept; each is below half a megabyte. */
const KEPT = 6;
/** A caller that found another's replay running asks again after this, or after as long as it has taken so far. */
const RETRY_LEAST_MS = 2_000;

export interface ReplayDeskParts {
  readonly history: History;
  /** The store's file. */
  readonly path: string;
  readonly clock: Pick<Clock, "nowMs">;
  readonly ids: IdSource;
}

export interface ReplayWish extends Range {
  readonly policy: string | null;
  readonly set: Readonly<Record<string, unknown>>;
}

export interface ReplayView extends ReplayWish {
  readonly id: string;
  readonly status: "running" | "completed" | "failed" | "cancelled";
  /** 0 to 1. */
  readonly progress: number;
  readonly error: string | null;
  readonly result: ReplayResult | null;
}

export type StartedReplay =
  | { readonly kind: "started"; readonly replay: ReplayView }
  | { readonly kind: "busy"; readonly retryAfterMs: number }
  | { readonly kind: "refused"; readonly param: string; readonly message: string };

export interface ReplayChoices {
  readonly span: Range | null;
  readonly policy: string;
  readonly settings: Readonly<Record<string, unknown>>;
  readonly policies: Readonly<Record<string, readonly SettingChoice[]>>;
  readonly replays: readonly ReplayView[];
}

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

export function createReplayDesk(parts: ReplayDeskParts): ReplayDesk {
  return new ReplayDesk(parts);
}

class ReplayDesk {
  readonly #parts: ReplayDeskParts;
  /** Oldest first. */
  readonly #kept: Mutable<ReplayView>[] = [];
  #running: { readonly view: Mutable<ReplayView>; readonly run: ReplayRun; readonly sinceMs: number } | null = null;

  constructor(parts: ReplayDeskParts) {
    this.#parts = parts;
  }

  async choices(): Promise<ReplayChoices> {
    const { history, clock } = this.#parts;
    const nowMs = clock.nowMs();
    const setup = latest(await history.setups({ fromMs: nowMs, toMs: nowMs + 1 }));
    const { policy = "", ...settings } = setup?.effective ?? {};
    const replays = this.#kept.toReversed();
    return { span: await history.span(), policy, settings, policies: settingChoices(setup?.scheduler ?? {}), replays };
  }

  /** Answers at once; the work goes on. */
  async start(wish: ReplayWish): Promise<StartedReplay> {
    const refused = await this.#refusal(wish);
    if (refused !== null) return { kind: "refused", ...refused };
    const { path, clock, ids } = this.#parts;
    const nowMs = clock.nowMs();
    if (this.#running !== null) {
      const retryAfterMs = Math.max(RETRY_LEAST_MS, nowMs - this.#running.sinceMs);
      return { kind: "busy", retryAfterMs };
    }
    const { fromMs, toMs } = wish;
    const order: ReplayOrder = { path, range: { fromMs, toMs }, change: changeOf(wish), mostJobs: MOST_JOBS };
    const fresh = { status: "running" as const, progress: 0, error: null, result: null };
    const view: Mutable<ReplayView> = { ...wish, id: ids.next("replay"), ...fresh };
    const run = startReplayThread(order, (progress) => {
      view.progress = Math.max(view.progress, Math.min(1, progress));
    });
    this.#running = { view, run, sinceMs: nowMs };
    this.#keep(view);
    void run.ended.then((end) => {
      if (this.#running?.view === view) this.#running = null;
      if (view.status !== "running") return;
      if ("result" in end) Object.assign(view, { status: "completed", progress: 1, result: end.result });
      else Object.assign(view, { status: "failed", error: end.failure });
    });
    return { kind: "started", replay: view };
  }

  async find(id: string): Promise<ReplayView | null> {
    return this.#kept.find((view) => view.id === id) ?? null;
  }

  /** What runs is given up at once; what has ended is forgotten. Null: there is none. */
  async remove(id: string): Promise<ReplayView | null> {
    const view = this.#kept.find((each) => each.id === id);
    if (view === undefined) return null;
    if (this.#running?.view === view) {
      view.status = "cancelled";
      await this.#running.run.stop();
      if (this.#running?.view === view) this.#running = null;
    } else this.#kept.splice(this.#kept.indexOf(view), 1);
    return view;
  }

  async close(): Promise<void> {
    await this.#running?.run.stop();
  }

  #keep(view: Mutable<ReplayView>): void {
    this.#kept.push(view);
    if (this.#kept.length > KEPT) this.#kept.shift();
  }

  /** What the configuration would say to these settings at any time of the range; null: it takes them. */
  async #refusal({ fromMs, toMs, policy, set }: ReplayWish): Promise<{ param: string; message: string } | null> {
    const setups = (await this.#parts.history.setups({ fromMs, toMs })).flatMap(({ setup }) => readSetup(setup) ?? []);
    try {
      if (policy !== null) knownPolicy(policy, "policy");
      for (const setup of setups) {
        const reads = policy ?? setup.effective.policy;
        for (const key of Object.keys(set)) requireKnownKey(key, [reads], "set");
        const document = documentOf(setup, { ...(policy === null ? {} : { policy }), set });
        resolveConfig(document, { file: null, baseDir: "/", cwd: "/", overrides: [] });
      }
      return null;
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      return refusalOf(error, set);
    }
  }
}

export type { ReplayDesk };

function changeOf({ policy, set }: ReplayWish): Change | null {
  if (policy === null && Object.keys(set).length === 0) return null;
  return policy === null ? { set } : { policy, set };
}

/** `param` is the setting that the first problem is at, or else speaks of. */
function refusalOf({ problems }: ConfigError, set: ReplayWish["set"]): { param: string; message: string } {
  const message = problems.map(({ path, text, mend }) => `${path}: ${text} ${mend}`.trimEnd()).join(" ");
  const path = problems[0]?.path ?? "";
  const keys = Object.keys(set);
  const key = keys.find((each) => path.split(/[.[]/).includes(each)) ?? keys.find((each) => message.includes(each));
  if (key !== undefined) return { param: `set.${key}`, message };
  return { param: keys.length === 0 ? "policy" : "set", message };
}

function latest(setups: readonly { readonly setup: unknown }[]): Setup | null {
  return setups.map(({ setup }) => readSetup(setup)).findLast((setup) => setup !== null) ?? null;
}
