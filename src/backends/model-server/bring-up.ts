// One load on a server, from the first look to the first token. Whatever goes wrong, nothing of it stays loaded.

import type { Clock } from "../../domain/clock.ts";
import { LoadError, type LoadProgress, type Member } from "../backend.ts";
import type { Dialect, Listed } from "./dialect.ts";
import { type ServerOptions, servedNameOf } from "./options.ts";
import { entryOf, isLoaded, type ServerTalk, wordsOf } from "./server-talk.ts";

/** So long what is left of a load is cleared away before that, too, is given up. */
const CLEAR_MS = 45_000;

export interface BringUp<Options extends ServerOptions> {
  readonly dialect: Dialect<Options>;
  readonly talk: ServerTalk<Options>;
  readonly clock: Clock;
  readonly member: Member<Options>;
  readonly report: (progress: LoadProgress) => void;
  readonly signal: AbortSignal;
  /** Members of the same server that may lie loaded there, although nobody answers for them: unloaded first. */
  strays(list: readonly Listed[]): readonly Member<Options>[];
  /** Models on the server that are none of ours. */
  others(list: readonly Listed[]): readonly string[];
}

/** @throws {LoadError} @throws {ServerError} */
export async function bringUp<Options extends ServerOptions>(
  up: BringUp<Options>,
): Promise<{ loaded: Listed; already: boolean }> {
  const { talk, member, report, signal } = up;
  report({ phase: "starting", progress: null });
  const list = await talk.list(signal);
  const found = entryOf(list, servedNameOf(member.spec));
  for (const stray of up.strays(list)) await clearStray(up, stray);
  givenUp(signal);
  report({ phase: "loading", progress: null });
  const order = orderOf(up, found);
  try {
    await order.done;
    const loaded = await talk.untilLoaded(servedNameOf(member.spec), report, signal);
    if (loaded.misfit !== undefined) throw new LoadError(await misfitInWords(up, loaded.misfit));
    report({ phase: "warming", progress: null });
    await talk.proven(member, signal);
    givenUp(signal);
    return { loaded, already: isLoaded(found) };
  } catch (error) {
    const left = await clear(up, order.carriedOut);
    if (left === null) throw error;
    throw new LoadError(`${signal.aborted ? "the load was given up" : wordsOf(error)}; ${left}`, [], error);
  }
}

/** The order to load. Where closing its connection would not end the load, it is not closed. */
function orderOf<Options extends ServerOptions>(
  { dialect, talk, member, signal }: BringUp<Options>,
  found: Listed,
): { done: Promise<void>; carriedOut: Promise<void> } {
  const heeded = dialect.loadsOnUnseen === true ? new AbortController().signal : signal;
  const carriedOut = dialect.load(talk.request(member, heeded), found);
  const abandoned = new Promise<never>((_, reject) => {
    const end = (): void => reject(new LoadError("the load was given up"));
    if (signal.aborted) end();
    else signal.addEventListener("abort", end, { once: true });
  });
  carriedOut.catch(() => undefined);
  abandoned.catch(() => undefined);
  return { done: Promise.race([carriedOut, abandoned]), carriedOut };
}

/** Null: nothing of it stays; else in words what does. */
async function clear<Options extends ServerOptions>(
  { dialect, talk, clock, member }: BringUp<Options>,
  carriedOut: Promise<void>,
): Promise<string | null> {
  const untilMs = clock.nowMs() + CLEAR_MS;
  const limit = new AbortController();
  const timer = clock.at(untilMs, () => limit.abort());
  try {
    if (dialect.loadsOnUnseen === true) {
      const late = new Promise<void>((resolve) => limit.signal.addEventListener("abort", () => resolve()));
      await Promise.race([carriedOut.catch(() => undefined), late]);
    }
    return await talk.untilGone(member, untilMs, limit.signal, 2);
  } finally {
    timer.cancel();
  }
}

async function clearStray<Options extends ServerOptions>(
  { talk, clock, signal }: BringUp<Options>,
  stray: Member<Options>,
): Promise<void> {
  const fault = await talk.untilGone(stray, clock.nowMs() + CLEAR_MS, signal);
  if (fault !== null && !signal.aborted) throw new LoadError(`${fault}, though this router did not load it`);
}

async function misfitInWords<Options extends ServerOptions>(up: BringUp<Options>, misfit: string): Promise<string> {
  const others = up.others(await up.talk.list(up.signal));
  return others.length === 0 ? misfit : `${misfit}; loaded there besides, by others: ${others.slice(0, 5).join(", ")}`;
}

function givenUp(signal: AbortSignal): void {
  if (signal.aborted) throw new LoadError("the load was given up");
}
