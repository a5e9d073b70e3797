// The loads that the router answers for on a server that others use too, and the eye that is kept on them.

import { createHash } from "node:crypto";
import type { Clock } from "../../domain/clock.ts";
import type { InstanceId, ModelName } from "../../domain/ids.ts";
import type { Member } from "../backend.ts";
import type { Dialect, Listed } from "./dialect.ts";
import type { Notes } from "./notes.ts";
import { type ServerOptions, servedNameOf } from "./options.ts";
import { ServerError } from "./server-http.ts";
import { entryOf, isLoaded, type ServerTalk, wordsOf } from "./server-talk.ts";
import { Watch } from "./watch.ts";

const TEND_MS = 5_000;
/** So many looks in a row that nobody answered: the server is gone, and not merely restarted. */
const DOWN_LOOKS = 2;

export interface Held<Options> {
  readonly instance: InstanceId;
  readonly member: Member<Options>;
  /** What the server calls it. */
  readonly name: string;
  /** Router time; a look that began before says nothing about it. */
  readonly sinceMs: number;
  /** What the load came to, as the server said last. */
  shape: string | undefined;
  /** Its end is ours. */
  stopping: boolean;
}

interface Parts<Options extends ServerOptions> {
  readonly dialect: Dialect<Options>;
  readonly talk: ServerTalk<Options>;
  readonly notes: Notes;
  readonly clock: Clock;
  readonly everyMs: number;
}

export class Holdings<Options extends ServerOptions> {
  readonly #parts: Parts<Options>;
  readonly #watch: Watch;
  readonly #held = new Map<InstanceId, Held<Options>>();
  /** Of the look that is under way. One of its own each time: signals that live long collect all that hangs on them. */
  #looking: AbortController | null = null;
  #listener: (instance: InstanceId, detail: string) => void = () => undefined;
  #downLooks = 0;

  constructor(parts: Parts<Options>) {
    this.#parts = parts;
    this.#watch = new Watch(parts.clock, parts.everyMs, {
      needed: () => this.#held.size > 0,
      look: () => this.#look(),
    });
  }

  onLost(listener: (instance: InstanceId, detail: string) => void): void {
    this.#listener = listener;
  }

  get(instance: InstanceId): Held<Options> | undefined {
    return this.#held.get(instance);
  }

  of(model: ModelName): Held<Options> | null {
    for (const held of this.#held.values()) if (held.member.spec.name === model) return held;
    return null;
  }

  hold(instance: InstanceId, member: Member<Options>, found: Listed): Held<Options> {
    const { notes, clock } = this.#parts;
    const held: Held<Options> = {
      instance,
      member,
      name: servedNameOf(member.spec),
      sinceMs: clock.nowMs(),
      shape: found.shape,
      stopping: false,
    };
    this.#held.set(instance, held);
    notes.add(member.spec.name, `It is loaded${found.shape === undefined ? "" : ` (${found.shape})`}.`);
    this.#watch.wake();
    return held;
  }

  /** Takes over what an earlier router, or somebody else, loaded. */
  adopt(member: Member<Options>, found: Listed): Held<Options> {
    const { notes, clock, talk } = this.#parts;
    const { name } = member.spec;
    notes.add(name, "It was found loaded.");
    const digest = createHash("sha256").update(`${talk.origin}\n${name}\n${clock.nowMs()}`).digest("hex");
    return this.hold(`ins_${digest.slice(0, 32)}` as InstanceId, member, found);
  }

  release({ instance }: Held<Options>): void {
    this.#held.delete(instance);
  }

  /** Something makes a look worth it before its time. */
  suspect(): void {
    this.#watch.now();
  }

  close(): void {
    this.#watch.close();
    this.#looking?.abort();
  }

  async #look(): Promise<void> {
    const { clock, talk, dialect } = this.#parts;
    const atMs = clock.nowMs();
    const looking = new AbortController();
    this.#looking = looking;
    const { signal } = looking;
    const list = await talk.list(signal).catch((error: unknown) => this.#unseen(error));
    if (list === null || signal.aborted) return;
    this.#downLooks = 0;
    for (const held of [...this.#held.values()]) {
      if (held.stopping || held.sinceMs >= atMs || !this.#held.has(held.instance)) continue;
      const found = entryOf(list, held.name);
      if (isLoaded(found)) await this.#tend(held, found, signal);
      else this.#lose(held, whyGone(dialect.server, held.name, found));
    }
  }

  /** No answer from a server that is there says nothing; nobody there, twice, says that all is gone. */
  #unseen(error: unknown): null {
    const down = error instanceof ServerError && error.kind === "down";
    this.#downLooks = down ? this.#downLooks + 1 : 0;
    if (this.#downLooks < DOWN_LOOKS) return null;
    for (const held of [...this.#held.values()]) {
      if (!held.stopping) this.#lose(held, `${this.#parts.dialect.server} is gone: ${wordsOf(error)}.`);
    }
    return null;
  }

  async #tend(held: Held<Options>, found: Listed, look: AbortSignal): Promise<void> {
    const { notes, clock, dialect, talk } = this.#parts;
    const { name } = held.member.spec;
    if (found.shape !== held.shape) {
      notes.add(name, `Somebody else had it loaded anew: ${held.shape ?? "?"} became ${found.shape ?? "?"}.`);
      held.shape = found.shape;
    }
    const limit = new AbortController();
    const timer = clock.at(clock.nowMs() + TEND_MS, () => limit.abort());
    try {
      const signal = AbortSignal.any([limit.signal, look]);
      const mended = await dialect.tend?.(talk.request(held.member, signal), found, clock.wallMs());
      if (typeof mended === "string") notes.add(name, mended);
    } catch (error) {
      notes.add(name, `It could not be tended: ${wordsOf(error)}`);
    } finally {
      timer.cancel();
    }
  }

  #lose(held: Held<Options>, detail: string): void {
    if (!this.#held.delete(held.instance)) return;
    this.#parts.notes.add(held.member.spec.name, detail);
    this.#listener(held.instance, detail);
  }
}

/** In words: why a model that should be loaded is not. */
function whyGone(server: string, name: string, found: Listed): string {
  if (found.detail !== undefined) return `${server} has lost ${name}: ${found.detail}.`;
  if (found.state === "leaving")
    return `${server} is unloading ${name}: somebody else told it to, or its own rules did.`;
  if (found.state === "loading") return `${server} is loading ${name} anew: somebody else told it to.`;
  return `${server} no longer has ${name} loaded: somebody else unloaded it, its own rules did, or it ended.`;
}
