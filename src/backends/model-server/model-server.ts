// The models of one server that loads them by itself. Loads, unloads and what others do there meanwhile are followed
// here; what is said to the server, and how, is its dialect's business.

import type { Agent } from "undici";
import type { LoadTier } from "../../domain/event.ts";
import type { InstanceId, ModelName } from "../../domain/ids.ts";
import {
  type Backend,
  type Call,
  type Capabilities,
  type DriverContext,
  type Instance,
  LoadError,
  type LoadProgress,
  type Member,
  type Outcome,
  type Placement,
  type Sink,
} from "../backend.ts";
import { httpCall, openDispatcher } from "../http-call.ts";
import { bringUp } from "./bring-up.ts";
import type { Dialect, Listed } from "./dialect.ts";
import { type Held, Holdings } from "./holdings.ts";
import { Notes } from "./notes.ts";
import { headersOf, type ServerOptions, servedNameOf } from "./options.ts";
import { RefusalGuard } from "./refusal-guard.ts";
import { ServerError } from "./server-http.ts";
import { entryOf, isCalled, isLoaded, ServerTalk, wordsOf } from "./server-talk.ts";

/** Beyond its grace a server gets so long to end what it is told to end. */
const STOP_SLACK_MS = 20_000;
const LOG_MS = 5_000;
const TAIL_LINES = 20;

export class ModelServer<Options extends ServerOptions> implements Backend {
  /** None of these servers says that memory is back; they say that a model is gone. */
  /** Of a server with a log of its own only the newest lines can be asked. */
  readonly followLogs?: (model: ModelName, lines: number, signal: AbortSignal) => AsyncIterable<string>;
  readonly can: Capabilities = { loads: true, knowsMemory: false };
  readonly #dialect: Dialect<Options>;
  readonly #members: ReadonlyMap<ModelName, Member<Options>>;
  readonly #context: DriverContext;
  readonly #dispatcher: Agent = openDispatcher();
  readonly #talk: ServerTalk<Options>;
  readonly #notes: Notes;
  readonly #holdings: Holdings<Options>;
  readonly #starting = new Set<ModelName>();
  readonly #loadedBefore = new Set<ModelName>();
  #advised = false;

  constructor(dialect: Dialect<Options>, members: readonly Member<Options>[], context: DriverContext) {
    const [first] = members;
    if (first === undefined) throw new Error(`${dialect.server} needs a model`);
    const { clock } = context;
    this.#dialect = dialect;
    this.#members = new Map(members.map((member) => [member.spec.name, member]));
    this.#context = context;
    this.#notes = new Notes(clock, [...this.#members.keys()]);
    this.#talk = new ServerTalk(dialect, first.options, { clock, dispatcher: this.#dispatcher });
    const everyMs = Math.min(...members.map(({ options }) => options.watchSeconds)) * 1000;
    if (dialect.logs === undefined)
      this.followLogs = (model, lines, signal) => this.#notes.follow(model, lines, signal);
    this.#holdings = new Holdings({ dialect, talk: this.#talk, notes: this.#notes, clock, everyMs });
  }

  async start(
    placement: Placement,
    report: (progress: LoadProgress) => void,
    signal: AbortSignal,
  ): Promise<{ endpoint: string; tier: LoadTier }> {
    const { model, instance } = placement;
    const member = this.#memberOf(model);
    const tier = this.nextTier(model);
    const parts = { dialect: this.#dialect, talk: this.#talk, clock: this.#context.clock };
    this.#starting.add(model);
    try {
      await this.#advise(model, signal);
      const { loaded, already } = await bringUp({
        ...parts,
        member,
        report,
        signal,
        strays: (list) => this.#strays(list),
        others: (list) => this.#others(list),
      });
      this.#holdings.hold(instance, member, loaded);
      this.#loadedBefore.add(model);
      return { endpoint: this.#talk.origin, tier: already ? "wake" : tier };
    } catch (error) {
      throw await this.#failed(member, error, signal);
    } finally {
      this.#starting.delete(model);
    }
  }

  nextTier(model: ModelName): LoadTier {
    return this.#loadedBefore.has(model) ? "warm" : "cold";
  }

  onLost(listener: (instance: InstanceId, detail: string) => void): void {
    this.#holdings.onLost(listener);
  }

  async stop(instance: Instance, graceMs: number, signal: AbortSignal): Promise<{ memory: "free" | "unknown" }> {
    const held = this.#holdings.get(instance.instance);
    if (held === undefined) return { memory: "unknown" };
    held.stopping = true;
    const untilMs = this.#context.clock.nowMs() + graceMs + STOP_SLACK_MS;
    const fault = await this.#talk.untilGone(held.member, untilMs, signal);
    if (fault !== null) {
      held.stopping = false;
      this.#notes.add(instance.model, `It would not stop: ${fault}.`);
      throw new LoadError(`${held.name} would not stop: ${fault}`, await this.#tail(held.member));
    }
    this.#holdings.release(held);
    this.#notes.add(instance.model, "It was unloaded.");
    return { memory: "unknown" };
  }

  async run(instance: Instance, call: Call, sink: Sink, signal: AbortSignal): Promise<Outcome> {
    const held = this.#holdings.get(instance.instance);
    if (held === undefined) return lost("the model is not loaded any more");
    const { options } = held.member;
    const dialect = this.#dialect;
    const screened = (await dialect.screen?.(call, options)) ?? { call, refusal: () => null };
    if (signal.aborted) return { kind: "aborted" };
    const before = screened.refusal();
    if (before !== null) return refuse(before, sink);
    const upstream = {
      origin: dialect.inferenceOrigin?.(options) ?? this.#talk.origin,
      path: withQuery(call.endpoint, dialect.query),
      headers: headersOf(options),
    };
    const guard = new RefusalGuard(sink);
    const using = { clock: this.#context.clock, dispatcher: this.#dispatcher };
    const outcome = await httpCall(upstream, screened.call, guard, signal, using);
    if (outcome.kind === "aborted") return outcome;
    const after = screened.refusal();
    return after === null ? this.#judged(held, outcome, guard) : refuse(after, sink);
  }

  async alive(instance: Instance, signal: AbortSignal): Promise<boolean> {
    const held = this.#holdings.get(instance.instance);
    if (held === undefined) return false;
    try {
      const found = await this.#talk.find(held.name, signal);
      return isLoaded(found) && found.misfit === undefined;
    } catch {
      return false;
    }
  }

  async answers(instance: Instance, signal: AbortSignal): Promise<boolean> {
    const held = this.#holdings.get(instance.instance);
    return held !== undefined && (await this.#talk.token(held.member, signal)) === null;
  }

  /** Ours by name, whoever loaded them. @throws when the server cannot be asked */
  async inspect(): Promise<readonly Instance[]> {
    const list = await this.#talk.list(new AbortController().signal).catch((error: unknown) => {
      if (error instanceof ServerError && error.kind === "down") return [];
      throw error;
    });
    const found: Instance[] = [];
    for (const member of this.#members.values()) {
      const { name } = member.spec;
      const entry = entryOf(list, servedNameOf(member.spec));
      if (entry.state === "absent" || this.#starting.has(name)) continue;
      const { instance } = this.#holdings.of(name) ?? this.#holdings.adopt(member, entry);
      found.push({ instance, model: name, device: null, endpoint: this.#talk.origin, epoch: 0 });
    }
    return found;
  }

  async logs(model: ModelName, lines: number): Promise<readonly string[]> {
    const member = this.#members.get(model);
    if (member === undefined) return [];
    return (await this.#serverLog(member, lines)) ?? this.#notes.newest(model, lines);
  }

  async close(): Promise<void> {
    this.#holdings.close();
    await this.#dispatcher.destroy();
  }

  /** Models of ours that lie loaded and that nobody answers for: they hold the memory that is wanted now. */
  #strays(list: readonly Listed[]): readonly Member<Options>[] {
    const strays = [...this.#members.values()].filter(({ spec }) => {
      if (this.#starting.has(spec.name) || this.#holdings.of(spec.name) !== null) return false;
      return entryOf(list, servedNameOf(spec)).state !== "absent";
    });
    for (const { spec } of strays) {
      this.#notes.add(spec.name, "It lay loaded though this router had not loaded it, and is unloaded.");
    }
    return strays;
  }

  #others(list: readonly Listed[]): readonly string[] {
    const ours = [...this.#members.values()].map(({ spec }) => servedNameOf(spec));
    const loaded = list.filter(({ state }) => state !== "absent");
    return loaded.filter((each) => !ours.some((name) => isCalled(each, name))).map(({ name }) => name);
  }

  async #failed(member: Member<Options>, error: unknown, signal: AbortSignal): Promise<LoadError> {
    const words = wordsOf(error);
    const message = signal.aborted && !words.includes("given up") ? "the load was given up" : words;
    this.#notes.add(member.spec.name, `Its load failed: ${message}`);
    return new LoadError(message, signal.aborted ? [] : await this.#tail(member), error);
  }

  /** A server that has lost the model is no fault of the request, whatever status it says it with. */
  async #judged(held: Held<Options>, outcome: Outcome, guard: RefusalGuard): Promise<Outcome> {
    if (outcome.kind === "succeeded" || outcome.kind === "busy") return outcome;
    const refusal = guard.held();
    if (outcome.kind === "refused") {
      const disowned = refusal !== null && this.#dialect.disowns?.(refusal.status, refusal.text) === true;
      if (!disowned) {
        await guard.pass();
        return outcome;
      }
    }
    this.#holdings.suspect();
    if (outcome.kind === "refused") return lost(`${this.#dialect.server} says that the model is not loaded`);
    if (outcome.kind !== "failed" || guard.passed || outcome.code !== "backend_error") return outcome;
    const found = await this.#talk.find(held.name, new AbortController().signal).catch(() => null);
    return found === null || isLoaded(found)
      ? outcome
      : lost(`${outcome.detail}, and the model is not loaded any more`);
  }

  async #advise(model: ModelName, signal: AbortSignal): Promise<void> {
    if (this.#advised || this.#dialect.advise === undefined) return;
    this.#advised = true;
    const advice = await this.#dialect.advise(this.#talk.http, signal).catch(() => []);
    for (const each of advice) this.#notes.add(model, each);
  }

  async #tail(member: Member<Options>): Promise<readonly string[]> {
    return (await this.#serverLog(member, TAIL_LINES)) ?? [];
  }

  /** Null: it has none, or does not give it. */
  async #serverLog(member: Member<Options>, lines: number): Promise<readonly string[] | null> {
    if (this.#dialect.logs === undefined) return null;
    const limit = new AbortController();
    const { clock } = this.#context;
    const timer = clock.at(clock.nowMs() + LOG_MS, () => limit.abort());
    try {
      const log = await this.#dialect.logs(this.#talk.http, limit.signal, servedNameOf(member.spec));
      return lines <= 0 ? [] : log.slice(-lines);
    } catch {
      return null;
    } finally {
      timer.cancel();
    }
  }

  #memberOf(model: ModelName): Member<Options> {
    const member = this.#members.get(model);
    if (member === undefined) throw new LoadError(`${this.#dialect.server} was not told of a model ${model}`);
    return member;
  }
}

function lost(detail: string): Outcome {
  return { kind: "lost", detail };
}

function withQuery(path: string, query: string | undefined): string {
  if (query === undefined) return path;
  return path.includes("?") ? `${path}&${query.slice(1)}` : `${path}${query}`;
}

async function refuse(error: object, sink: Sink): Promise<Outcome> {
  sink.head({ status: 400, headers: { "content-type": "application/json" } });
  await sink.chunk(Buffer.from(JSON.stringify(error)));
  return { kind: "refused" };
}
