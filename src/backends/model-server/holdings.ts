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

/** Mending may be a whole load. */
const TEND_MS = 900_000;
/** So many looks in a row that nobody answered: the server is gone, and not merely restarted. */
const DOWN_LOOKS = 2;

export interface Held<Options> {
  readonly instance: InstanceId;
  readonly member: Member<Options>;
  /** What the server calls it. */
  readonly name: string;
  /** Router time; a look that began before says nothing about it. */
  readonly sinceMs: number;
  /** What the load came to, as the server said last; undefined: what comes next is as good. */
  shape: string | undefined;
  /** Its end is ours. */
  stopping: boolean;
  /** Something about it is being mended. */
  tending: boolean;
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
  /** What is under way. Each has its own: signals that live long collect all that hangs on them. */
  readonly #underWay = new Set<AbortController>();
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
      tending: false,
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
    for (const each of this.#underWay) each.abort();
  }

  async #look(): Promise<void> {
    const atMs = this.#parts.clock.nowMs();
    const list = await this.#during((signal) => this.#parts.talk.list(signal)).catch((error: unknown) =>
      this.#unseen(error),
    );
    if (list === null) return;
    this.#downLooks = 0;
    for (const held of [...this.#held.values()]) {
      if (held.stopping || held.sinceMs >= atMs || !this.#held.has(held.instance)) continue;
      const found = entryOf(list, held.name);
      if (!isLoaded(found)) this.#lose(held, whyGone(this.#parts.dialect.server, held.name, found));
      else if (!held.tending) this.#tend(held, found);
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

  /** Looks go on meanwhile. */
  #tend(held: Held<Options>, found: Listed): void {
    const { notes, clock, dialect, talk } = this.#parts;
    const { name } = held.member.spec;
    if (held.shape !== undefined && found.shape !== held.shape) {
      notes.add(name, `Somebody else had it loaded anew: ${held.shape} became ${found.shape ?? "?"}.`);
    }
    held.shape = found.shape;
    if (dialect.tend === undefined) return;
    held.tending = true;
    this.#during(async (signal) => dialect.tend?.(talk.request(held.member, signal), found, clock.wallMs()))
      .then(
        (mended) => {
          if (typeof mended !== "string") return;
          notes.add(name, mended);
          held.shape = undefined;
        },
        (error: unknown) => notes.add(name, `It could not be tended: ${wordsOf(error)}`),
      )
      .finally(() => {
        held.tending = false;
      });
  }

  /** Ended by its limit, and by `close`. */
  async #during<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { clock } = this.#parts;
    const limit = new AbortController();
    const timer = clock.at(clock.nowMs() + TEND_MS, () => limit.abort());
    this.#underWay.add(limit);
    try {
      return await work(limit.signal);
    } finally {
      timer.cancel();
      this.#underWay.delete(limit);
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
