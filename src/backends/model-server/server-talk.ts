// One server, spoken to in its dialect: what it has, and loads and unloads carried through to their end.

import type { Agent } from "undici";
import { type Clock, sleepUntil } from "../../domain/clock.ts";
import { LoadError, type LoadProgress, type Member } from "../backend.ts";
import { tokenFault } from "../probe.ts";
import type { Dialect, Listed, Request } from "./dialect.ts";
import { headersOf, originOf, type ServerOptions, servedNameOf } from "./options.ts";
import { ServerError, ServerHttp } from "./server-http.ts";

const LIST_MS = 5_000;
const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 1_000;
/** A model that is still listed is told again so often to go. */
const REPEAT_MS = 3_000;
const TOKEN_TRIES = 3;

export class ServerTalk<Options extends ServerOptions> {
  readonly origin: string;
  readonly http: ServerHttp;
  readonly #dialect: Dialect<Options>;
  readonly #options: Options;
  readonly #using: { readonly clock: Clock; readonly dispatcher: Agent };

  constructor(
    dialect: Dialect<Options>,
    options: Options,
    using: { readonly clock: Clock; readonly dispatcher: Agent },
  ) {
    this.origin = originOf(options);
    this.#dialect = dialect;
    this.#options = options;
    this.#using = using;
    this.http = new ServerHttp(this.origin, headersOf(options), using);
  }

  request(member: Member<Options>, signal: AbortSignal): Request<Options> {
    const http = new ServerHttp(this.origin, headersOf(member.options), this.#using);
    return { member, name: servedNameOf(member.spec), http, signal };
  }

  /** @throws {ServerError} @throws {LoadError} */
  async list(signal: AbortSignal): Promise<readonly Listed[]> {
    const limit = new AbortController();
    const { clock } = this.#using;
    const timer = clock.at(clock.nowMs() + LIST_MS, () => limit.abort());
    try {
      return await this.#dialect.list(this.http, AbortSignal.any([signal, limit.signal]), this.#options);
    } catch (error) {
      if (!limit.signal.aborted || signal.aborted) throw error;
      throw new ServerError(`${this.origin} did not say within ${LIST_MS / 1000} s what is loaded`, "silent", error);
    } finally {
      timer.cancel();
    }
  }

  async find(name: string, signal: AbortSignal): Promise<Listed> {
    return entryOf(await this.list(signal), name);
  }

  /** Waits until the server says that the model is loaded. @throws {LoadError} when it is not any more */
  async untilLoaded(name: string, report: (progress: LoadProgress) => void, signal: AbortSignal): Promise<Listed> {
    for await (const found of this.#looks(name, signal)) {
      if (isLoaded(found)) return found;
      if (found.state === "loading") {
        report({ phase: "loading", progress: found.progress ?? null });
        continue;
      }
      const why = found.detail === undefined ? "it gives no reason" : found.detail;
      throw new LoadError(`${this.#dialect.server} did not load ${name}: ${why}`);
    }
    throw new LoadError("the load was given up");
  }

  /**
   * Tells the model to go until it is gone. Null: it is; else in words why it is not.
   *
   * @param sureLooks So many looks in a row must not find it: 2 when a load may still be on its way.
   */
  async untilGone(
    member: Member<Options>,
    untilMs: number,
    signal: AbortSignal,
    sureLooks = 1,
  ): Promise<string | null> {
    const { clock } = this.#using;
    const limit = new AbortController();
    const timer = clock.at(untilMs, () => limit.abort());
    const ended = AbortSignal.any([signal, limit.signal]);
    const request = this.request(member, ended);
    let toldAtMs = Number.NEGATIVE_INFINITY;
    let absent = 0;
    try {
      for await (const found of this.#looks(request.name, ended)) {
        absent = found.state === "absent" ? absent + 1 : 0;
        if (absent >= sureLooks) return null;
        if (found.state === "absent" || clock.nowMs() < toldAtMs + REPEAT_MS) continue;
        toldAtMs = clock.nowMs();
        await this.#tell(request, found);
      }
    } catch (error) {
      if (error instanceof ServerError && error.kind === "down") return null;
      if (!ended.aborted) return wordsOf(error);
    } finally {
      timer.cancel();
    }
    return `${this.#dialect.server} still has ${request.name} loaded`;
  }

  /** An order that is not answered may still be carried out: the list tells. */
  async #tell(request: Request<Options>, found: Listed): Promise<void> {
    try {
      await this.#dialect.unload(request, found);
    } catch (error) {
      if (!(error instanceof ServerError) || error.kind === "down") throw error;
    }
  }

  /** What went wrong with one token, in words; null when the model answers, or has nothing to complete. */
  token(member: Member<Options>, signal: AbortSignal): Promise<string | null> {
    const target = {
      origin: this.#dialect.inferenceOrigin?.(member.options) ?? this.origin,
      healthPath: "",
      servedName: servedNameOf(member.spec),
      headers: headersOf(member.options),
      token: true,
      query: this.#dialect.query ?? "",
    };
    return tokenFault(target, this.#using, signal);
  }

  /** @throws {LoadError} after some tries without a token */
  async proven(member: Member<Options>, signal: AbortSignal): Promise<void> {
    const { clock } = this.#using;
    let fault: string | null = null;
    for (let tries = 0; tries < TOKEN_TRIES && !signal.aborted; tries++) {
      if (tries > 0) await sleepUntil(clock, clock.nowMs() + LONGEST_PAUSE_MS, signal);
      fault = await this.token(member, signal);
      if (fault === null) return;
    }
    throw new LoadError(`${this.#dialect.server} calls the model loaded, but a request for one token failed: ${fault}`);
  }

  async *#looks(name: string, signal: AbortSignal): AsyncGenerator<Listed> {
    const { clock } = this.#using;
    for (let pauseMs = FIRST_PAUSE_MS; !signal.aborted; pauseMs = Math.min(pauseMs * 1.5, LONGEST_PAUSE_MS)) {
      const found = await this.#lookOnce(name, signal);
      if (found !== null) yield found;
      await sleepUntil(clock, clock.nowMs() + pauseMs, signal);
    }
  }

  /** A server that is busy loading may be slow to answer; that alone says nothing. */
  async #lookOnce(name: string, signal: AbortSignal): Promise<Listed | null> {
    try {
      return await this.find(name, signal);
    } catch (error) {
      if (error instanceof ServerError && error.kind !== "down") return null;
      throw error;
    }
  }
}

export function isLoaded({ state }: Listed): boolean {
  return state === "ready" || state === "asleep";
}

export function isCalled(listed: Listed, name: string): boolean {
  return listed.name === name || listed.aliases?.includes(name) === true;
}

export function entryOf(list: readonly Listed[], name: string): Listed {
  const found = list.find((each) => isCalled(each, name));
  return found ?? { name, state: "absent" };
}

export function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
