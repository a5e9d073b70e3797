// One stream for all who watch: what changed is gathered, made into one frame at most each quarter of a second, written
// out once for each scope, and the same bytes go to everybody. Nothing happens while nobody watches.

import type { Change } from "../domain/change.ts";
import type { Clock, Timer } from "../domain/clock.ts";
import type { RouterEvent } from "../domain/event.ts";
import { ChangeLog, type Changes, type Scope } from "./changes.ts";
import { FrameRing } from "./ring.ts";
import { type Outlet, Watcher } from "./watcher.ts";

const FRAME_MS = 250;
/** What changes without an event (an operator's pin, a sentence with an age in it) is looked for so often. */
const BEAT_MS = 1_000;
const PING_MS = 15_000;
/** What only drifts, as a share of the last hour does, is told so often. */
const DRIFT_MS = 60_000;
const WATCHERS_MAX = 64;
const WARN_MS = 60_000;

/** What frames say. */
export interface Content {
  /** The whole state as JSON; `seq` says, when it is read, of which frame that is. */
  snapshot(scope: Scope, seq: () => number): Promise<string>;
  /**
   * What is different from the frame before, as JSON; null: nothing is. The result is asked once for each scope.
   * @param drift Also what changes all the time by itself.
   */
  delta(changes: Changes, seq: number, drift: boolean): ((scope: Scope) => string) | null;
  /** Nobody watches any more: the next delta is compared with nothing. */
  forget(): void;
}

export interface HubParts {
  readonly clock: Clock;
  /** Ids of frames begin with it: another router's do not follow on. */
  readonly boot: string;
  readonly content: Content;
  /** A reader lags; at most once a minute. `frames` were withheld since the last time. */
  onLag?(frames: number): void;
}

export class LiveHub {
  readonly boot: string;
  readonly #clock: Clock;
  readonly #content: Content;
  readonly #onLag: (frames: number) => void;
  readonly #watchers = new Set<Watcher>();
  readonly #scopes = new Map<Scope, number>();
  readonly #ring = new FrameRing();
  #log = new ChangeLog();
  #seq = 0;
  #dirty = false;
  #frameTimer: Timer | null = null;
  #beatTimer: Timer | null = null;
  #lastFrameAtMs = Number.NEGATIVE_INFINITY;
  #pingedAtMs = 0;
  #driftedAtMs = 0;
  #warnedAtMs = Number.NEGATIVE_INFINITY;
  #withheld = 0;
  /** Frames that readers who lagged were not sent, since the router started. */
  withheldTotal = 0;
  #closed = false;

  constructor({ clock, boot, content, onLag }: HubParts) {
    this.#clock = clock;
    this.boot = boot;
    this.#content = content;
    this.#onLag = onLag ?? (() => undefined);
  }

  /** Of the last frame. */
  get seq(): number {
    return this.#seq;
  }

  get watching(): number {
    return this.#watchers.size;
  }

  /** Sent to readers and not taken by them, of all together. */
  get untakenBytes(): number {
    return [...this.#watchers].reduce((sum, watcher) => sum + watcher.untakenBytes, 0);
  }

  get full(): boolean {
    return this.#watchers.size >= WATCHERS_MAX;
  }

  event(event: RouterEvent): void {
    if (this.#watchers.size === 0) return;
    this.#log.event(event);
    this.#mark();
  }

  change(change: Change): void {
    if (this.#watchers.size === 0) return;
    this.#log.change(change, this.#scopes);
    this.#mark();
  }

  /**
   * One more reader: what it missed since `lastEventId`, or the whole state, and then every frame. Returns how it leaves;
   * null: there are too many, or the router goes down.
   */
  join(scope: Scope, lastEventId: string | null, outlet: Outlet): (() => void) | null {
    if (this.full || this.#closed) return null;
    if (this.#watchers.size === 0) this.#begin();
    const watcher = new Watcher(scope, outlet, (each) => this.#showAll(each));
    const missed = this.#ring.after(this.#seqOf(lastEventId), scope);
    this.#scopes.set(scope, (this.#scopes.get(scope) ?? 0) + 1);
    this.#watchers.add(watcher);
    if (missed === null) this.#showAll(watcher);
    else watcher.begin([HELLO, ...missed]);
    return () => this.#leave(watcher);
  }

  /** Last words to everybody; nobody joins any more. Idempotent. */
  close(): void {
    this.#closed = true;
    for (const watcher of [...this.#watchers]) {
      this.#leave(watcher);
      watcher.end(BYE);
    }
  }

  #leave(watcher: Watcher): void {
    if (!this.#watchers.delete(watcher)) return;
    const left = (this.#scopes.get(watcher.scope) ?? 1) - 1;
    if (left === 0) this.#scopes.delete(watcher.scope);
    else this.#scopes.set(watcher.scope, left);
    if (this.#watchers.size > 0) return;
    this.#frameTimer?.cancel();
    this.#beatTimer?.cancel();
    this.#frameTimer = null;
    this.#beatTimer = null;
    this.#dirty = false;
    this.#ring.clear();
    this.#log = new ChangeLog();
    this.#content.forget();
  }

  /** After a time in which nobody watched and nothing was gathered: earlier ids do not follow on. */
  #begin(): void {
    this.#seq++;
    this.#pingedAtMs = this.#driftedAtMs = this.#clock.nowMs();
    this.#armBeat();
  }

  #seqOf(lastEventId: string | null): number {
    const prefix = `${this.boot}.`;
    const digits = lastEventId?.startsWith(prefix) === true ? lastEventId.slice(prefix.length) : "";
    return /^\d{1,15}$/.test(digits) ? Number(digits) : -1;
  }

  #showAll(watcher: Watcher): void {
    this.#content
      .snapshot(watcher.scope, () => this.#seq)
      .then(
        (data) => {
          if (this.#watchers.has(watcher)) watcher.begin([encode("snapshot", `${this.boot}.${this.#seq}`, data)]);
        },
        () => {
          // The store is away; the reader comes back.
          this.#leave(watcher);
          watcher.end(BYE);
        },
      );
  }

  #mark(): void {
    this.#dirty = true;
    if (this.#frameTimer !== null) return;
    const dueMs = Math.max(this.#clock.nowMs(), this.#lastFrameAtMs + FRAME_MS);
    this.#frameTimer = this.#clock.at(dueMs, () => {
      this.#frameTimer = null;
      this.#frame();
    });
  }

  #armBeat(): void {
    this.#beatTimer = this.#clock.at(this.#clock.nowMs() + BEAT_MS, () => {
      this.#armBeat();
      if (this.#clock.nowMs() - this.#pingedAtMs >= PING_MS) this.#ping();
      this.#mark();
    });
  }

  #ping(): void {
    this.#pingedAtMs = this.#clock.nowMs();
    for (const watcher of this.#watchers) watcher.send(PING);
  }

  #frame(): void {
    if (!this.#dirty || this.#watchers.size === 0) return;
    const atMs = this.#clock.nowMs();
    this.#dirty = false;
    this.#lastFrameAtMs = atMs;
    const drift = atMs - this.#driftedAtMs >= DRIFT_MS;
    if (drift) this.#driftedAtMs = atMs;
    const told = this.#content.delta(this.#log.take(), this.#seq + 1, drift);
    if (told === null) return;
    this.#seq++;
    const id = `${this.boot}.${this.#seq}`;
    const bytes = new Map([...this.#scopes.keys()].map((scope) => [scope, encode("delta", id, told(scope))]));
    this.#ring.push({ seq: this.#seq, atMs, bytes });
    let withheld = 0;
    for (const watcher of this.#watchers) {
      const frame = bytes.get(watcher.scope);
      if (frame !== undefined && !watcher.send(frame)) withheld++;
    }
    if (withheld > 0) this.#noteLag(withheld, atMs);
  }

  #noteLag(frames: number, atMs: number): void {
    this.#withheld += frames;
    this.withheldTotal += frames;
    if (atMs - this.#warnedAtMs < WARN_MS) return;
    this.#warnedAtMs = atMs;
    this.#onLag(this.#withheld);
    this.#withheld = 0;
  }
}

const encoder = new TextEncoder();

/** JSON has no line breaks of its own. */
function encode(event: string, id: string, data: string): Uint8Array {
  return encoder.encode(`id: ${id}\nevent: ${event}\ndata: ${data}\n\n`);
}

const HELLO = encoder.encode(": here is what you missed\n\n");
const PING = encoder.encode(": ping\n\n");
const BYE = encoder.encode("event: bye\nretry: 2000\ndata: {}\n\n");
