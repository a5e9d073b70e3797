// The engines of one model, as its backend sees them: found by the load they serve, called, asked whether they live,
// watched for their end. What a load and an unload are is the backend's own business.

import type { InstanceId, ModelName } from "../../domain/ids.ts";
import type { Call, DriverContext, Instance, LoadProgress, Outcome, Placement, Sink } from "../backend.ts";
import { httpCall, openDispatcher } from "../http-call.ts";
import { listsModel, type Probing, QUICK_MS, tokenFault } from "../probe.ts";
import type { BringUp } from "./bring-up.ts";
import type { Host, Hosted } from "./host.ts";
import { hiding, tailOf } from "./last-words.ts";
import { type EngineMember, headersOf, probeTargetOf } from "./launch-plan.ts";

/** What an engine that was found gets to answer with one token before it is taken over. */
const PROOF_MS = 10_000;
/** How long a process that has answered before may be silent, being busy with work that nobody waits for any more. */
const SILENCE_MS = 60_000;

export type LostListener = (instance: InstanceId, detail: string) => void;

export class ModelEngines {
  readonly member: EngineMember;
  readonly host: Host;
  readonly context: DriverContext;
  readonly probing: Probing;
  readonly hide: (text: string) => string;
  onLost: LostListener = () => undefined;
  readonly #dispatcher = openDispatcher();
  readonly #closing = new AbortController();
  #closed: Promise<void> | null = null;
  readonly #watched = new WeakSet<Hosted>();
  /** Their end is ours. */
  readonly #ours = new WeakSet<Hosted>();
  /** Since when they have let a look run into its limit. */
  readonly #silentSinceMs = new WeakMap<Hosted, number>();

  constructor(member: EngineMember, host: Host, context: DriverContext) {
    this.member = member;
    this.host = host;
    this.context = context;
    this.hide = hiding(member, context.environment ?? {});
    this.probing = { clock: context.clock, dispatcher: this.#dispatcher };
  }

  get graceMs(): number {
    return this.member.options.stopGraceSeconds * 1000;
  }

  /** What a load needs to know of all this; it is given up when the backend is closed, too. */
  loading(placement: Placement, report: (progress: LoadProgress) => void, given: AbortSignal): BringUp {
    const { host, member, probing, hide } = this;
    return { host, member, placement, probing, report, signal: AbortSignal.any([given, this.#closing.signal]), hide };
  }

  /** The engine that serves this load, ended or not. */
  async find({ instance }: Pick<Instance, "instance">): Promise<Hosted | null> {
    const engines = await this.host.engines();
    return engines.find(({ seat }) => seat.instance === instance) ?? null;
  }

  /** All that were taken into service or found. One that is being launched is nobody's yet. */
  async inService(): Promise<readonly Hosted[]> {
    const engines = (await this.host.engines()).filter(({ proven, found }) => proven || found);
    for (const engine of engines) this.watch(engine);
    return engines;
  }

  call(engine: Hosted, call: Call, sink: Sink, signal: AbortSignal): Promise<Outcome> {
    const upstream = { origin: engine.origin, path: call.endpoint, headers: headersOf(this.member.options) };
    return httpCall(upstream, call, sink, signal, this.probing);
  }

  /**
   * Cheap, but for the first time with an engine that was found: that one has to prove itself with a token. One that says
   * nothing for a while lives on as long as its process does; one that refuses, or answers something else, does not.
   */
  async alive(engine: Hosted, signal: AbortSignal): Promise<boolean> {
    // One that serves goes on although the configuration has changed.
    if (engine.ended !== null || !(engine.proven || engine.fits)) return false;
    const beganMs = this.context.clock.nowMs();
    if (!(await listsModel(probeTargetOf(this.member, engine.origin), this.probing, signal))) {
      return engine.proven && engine.ended === null && this.#isSilent(engine, beganMs);
    }
    this.#silentSinceMs.delete(engine);
    engine.proven ||= await this.answersWithin(PROOF_MS, engine, signal);
    return engine.proven && engine.ended === null;
  }

  /**
   * True for a look that ran into its limit, until the silence has lasted too long. The server of llama-cpp-python, for
   * one, lists its models only between two generations, and goes on with one whose caller has left.
   */
  #isSilent(engine: Hosted, lookedAtMs: number): boolean {
    const nowMs = this.context.clock.nowMs();
    if (nowMs - lookedAtMs < QUICK_MS) return false;
    const sinceMs = this.#silentSinceMs.get(engine) ?? lookedAtMs;
    this.#silentSinceMs.set(engine, sinceMs);
    return nowMs - sinceMs < SILENCE_MS;
  }

  /** One token; true as well for an engine that is never asked for one. */
  async answers(engine: Hosted, signal: AbortSignal): Promise<boolean> {
    if (engine.ended !== null) return false;
    const target = probeTargetOf(this.member, engine.origin);
    return !target.token || (await tokenFault(target, this.probing, signal)) === null;
  }

  async answersWithin(limitMs: number, engine: Hosted, signal: AbortSignal): Promise<boolean> {
    const { clock } = this.context;
    const late = new AbortController();
    const timer = clock.at(clock.nowMs() + limitMs, () => late.abort());
    try {
      return await this.answers(engine, AbortSignal.any([signal, late.signal]));
    } finally {
      timer.cancel();
    }
  }

  /** Tells of its end at once, with its last words, unless that end is ours. */
  watch(engine: Hosted): void {
    if (this.#watched.has(engine)) return;
    this.#watched.add(engine);
    void engine.whenEnded.then((words) => {
      if (this.#ours.has(engine)) return;
      this.onLost(engine.seat.instance, [this.hide(words), ...tailOf(engine.log, this.hide)].join("\n"));
    });
  }

  /** @throws {LoadError} when something of it still runs */
  async end(engine: Hosted, graceMs: number, hurry?: AbortSignal): Promise<void> {
    const known = this.#ours.has(engine);
    this.#ours.add(engine);
    try {
      await engine.end(Math.min(graceMs, this.graceMs), hurry);
    } catch (error) {
      if (!known) this.#ours.delete(engine);
      throw error;
    }
  }

  async logs(model: ModelName, lines: number): Promise<readonly string[]> {
    return ((await this.host.logOf(model))?.last(lines) ?? []).map(this.hide);
  }

  async *followLogs(model: ModelName, lines: number, signal: AbortSignal): AsyncGenerator<string> {
    const log = await this.host.logOf(model);
    if (log === null) return;
    for await (const line of log.follow(signal, lines)) yield this.hide(line);
  }

  /** Nothing of a router that ends in good order is left running; what will not stop is found later. Idempotent. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    this.#closing.abort();
    const own = (await this.host.engines()).filter(({ model }) => model === this.member.spec.name);
    await Promise.allSettled(own.map((engine) => this.end(engine, this.graceMs)));
    await this.#dispatcher.destroy();
  }
}
