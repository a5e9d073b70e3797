// `sir top` while it runs: the stream feeds it, keys steer it, and it is drawn at most four times a second.

import type { StatusWire } from "../client/wire-status.ts";
import { sleepUntil } from "../domain/clock.ts";
import type { Io, SignalName } from "./command.ts";
import { EXIT, type ExitCode } from "./exit-codes.ts";
import { enterFullScreen } from "./full-screen.ts";
import { liveFeed } from "./live-feed.ts";
import type { RouterClient } from "./router-client.ts";
import { actOn, decisionsPage, failureText, pageOf, type Question } from "./top-acts.ts";
import { topLines } from "./top-draw.ts";
import { KEY_HELP, keysIn, type TopKey } from "./top-keys.ts";
import { readJobs, readPast } from "./top-past.ts";
import { applyDelta, itemsOf, type TopState, topState, WINDOWS_MS } from "./top-state.ts";
import { plainSigns } from "./width.ts";

const FRAME_MS = 250;
/** Ages go on without news. */
const AGE_MS = 1_000;
/** Jobs that waited change by themselves; they are read again when something did. */
const JOBS_MS = 2_000;

export class TopSession {
  readonly #router: RouterClient;
  readonly #io: Io;
  readonly #stop = new AbortController();
  readonly #state: TopState;
  #code: ExitCode = EXIT.done;
  #page: { readonly lines: readonly string[]; top: number } | null = null;
  #question: Question | null = null;
  #dirty = true;
  #jobsChanged = true;
  #failure: unknown = null;

  constructor(router: RouterClient, status: StatusWire, only: string | null, io: Io) {
    this.#router = router;
    this.#io = io;
    this.#state = topState(status, io.clock.nowMs(), only);
  }

  async run(): Promise<ExitCode> {
    const io = this.#io;
    const screen = enterFullScreen(io);
    const ends: readonly (readonly [SignalName, ExitCode])[] = [
      ["SIGINT", EXIT.interrupted],
      ["SIGTERM", EXIT.interrupted],
      ["SIGHUP", EXIT.interrupted],
    ];
    const forget = [
      ...ends.map(([name, code]) => io.onSignal(name, () => this.#end(code))),
      io.onSignal("SIGWINCH", () => this.#changed()),
      io.onKey((data) => void this.#typed(data)),
    ];
    try {
      const work = [this.#feed(), this.#readJobs(), this.#drawing(screen)];
      await Promise.all(work.map((each) => each.catch((error: unknown) => this.#fail(error))));
    } finally {
      for (const each of forget) each();
      screen.leave();
    }
    if (this.#failure !== null) throw this.#failure;
    return this.#code;
  }

  #end(code: ExitCode): void {
    this.#code = code;
    this.#stop.abort();
  }

  #fail(error: unknown): void {
    this.#failure ??= error;
    this.#stop.abort();
  }

  #changed(): void {
    this.#dirty = true;
  }

  async #drawing(screen: { draw(lines: readonly string[]): void }): Promise<void> {
    const { clock } = this.#io;
    for (let drawnMs = 0; !this.#stop.signal.aborted; ) {
      const nowMs = clock.nowMs();
      if (this.#dirty || nowMs - drawnMs >= AGE_MS) {
        this.#dirty = false;
        drawnMs = nowMs;
        const lines = this.#lines();
        screen.draw(this.#io.screen.unicode ? lines : lines.map(plainSigns));
      }
      await sleepUntil(clock, nowMs + FRAME_MS, this.#stop.signal);
    }
  }

  #lines(): string[] {
    const { screen, color, zone, clock } = this.#io;
    const size = screen.size();
    if (this.#page === null) {
      return topLines(this.#state, { ...size, unicode: screen.unicode, color, zone, nowMs: clock.nowMs(), keys: true });
    }
    const { lines, top } = this.#page;
    const foot = lines.length > size.rows - 1 ? "up, down scroll; Esc goes back" : "Esc goes back";
    return [...lines.slice(top, top + size.rows - 1), foot];
  }

  async #feed(): Promise<void> {
    const { signal } = this.#stop;
    for await (const event of liveFeed(this.#router, this.#io, signal, true)) {
      const nowMs = this.#io.clock.nowMs();
      if (event.event === "lost") this.#state.lost = event.why;
      else if (event.event === "snapshot") {
        this.#state.lost = null;
        if (!this.#state.frozen) {
          this.#state.status = event.data;
          this.#state.heardMs = nowMs;
        }
        this.#jobsChanged = true;
        void this.#readPast();
      } else if (event.event === "delta") {
        this.#state.lost = null;
        if (!this.#state.frozen) applyDelta(this.#state, event.data, nowMs);
        if (event.data.jobs.length > 0) this.#jobsChanged = true;
      }
      this.#changed();
    }
  }

  async #readPast(): Promise<void> {
    await readPast(this.#router, this.#state);
    this.#changed();
  }

  async #readJobs(): Promise<void> {
    const { signal } = this.#stop;
    const { clock } = this.#io;
    while (!signal.aborted) {
      if (this.#jobsChanged && !this.#state.frozen) {
        this.#jobsChanged = false;
        await readJobs(this.#router, this.#state);
        this.#changed();
      }
      await sleepUntil(clock, clock.nowMs() + JOBS_MS, signal);
    }
  }

  async #typed(data: string): Promise<void> {
    for (const key of keysIn(data)) {
      try {
        await this.#pressed(key);
      } catch (error) {
        this.#fail(error);
      }
      this.#changed();
    }
  }

  async #pressed(key: TopKey): Promise<void> {
    const state = this.#state;
    if (this.#question !== null) return this.#answered(key);
    state.message = null;
    if (key === "quit" || key === "back") {
      if (this.#page !== null) this.#page = null;
      else if (key === "quit") this.#end(EXIT.done);
      return;
    }
    if (this.#page !== null) return this.#scrolled(key);
    const items = itemsOf(state, this.#io.clock.nowMs());
    const last = Math.max(0, items.length - 1);
    state.selected = Math.min(state.selected, last);
    const item = items[state.selected];
    if (key === "up") state.selected = Math.max(0, state.selected - 1);
    else if (key === "down") state.selected = Math.min(last, state.selected + 1);
    else if (key === "freeze") this.#freeze();
    else if (key === "longer" || key === "shorter") this.#widen(key === "longer" ? 1 : -1);
    else if (key === "help") this.#page = { lines: KEY_HELP, top: 0 };
    else if (key === "decisions") this.#page = { lines: decisionsPage(state, this.#io), top: 0 };
    else if (key === "open") await this.#open(item);
    else if (key === "cancel" || key === "load" || key === "unload" || key === "pin") await this.#act(key, item);
  }

  #scrolled(key: TopKey): void {
    if (this.#page === null) return;
    const step = key === "up" ? -1 : key === "down" ? 1 : 0;
    const most = Math.max(0, this.#page.lines.length - this.#io.screen.size().rows + 1);
    this.#page.top = Math.max(0, Math.min(most, this.#page.top + step));
  }

  #freeze(): void {
    this.#state.frozen = !this.#state.frozen;
    if (!this.#state.frozen) void this.#readPast();
  }

  #widen(step: number): void {
    const at = WINDOWS_MS.indexOf(this.#state.windowMs);
    this.#state.windowMs = WINDOWS_MS[at + step] ?? this.#state.windowMs;
    void this.#readPast();
  }

  async #open(item: Parameters<typeof pageOf>[0]): Promise<void> {
    const lines = await pageOf(item, this.#state, this.#router, this.#io).catch((error: unknown) => [
      failureText(error),
    ]);
    this.#page = { lines, top: 0 };
  }

  async #act(key: "cancel" | "load" | "unload" | "pin", item: Parameters<typeof actOn>[1]): Promise<void> {
    const found = actOn(key, item, this.#state, this.#router);
    if (typeof found === "string") this.#state.message = found;
    else if (typeof found === "function") this.#state.message = await found().catch(failureText);
    else {
      this.#question = found;
      this.#state.message = found.text;
    }
  }

  async #answered(key: TopKey): Promise<void> {
    const question = this.#question;
    this.#question = null;
    this.#state.message = key === "yes" && question !== null ? await question.act().catch(failureText) : null;
    this.#jobsChanged = true;
    if (key === "quit") this.#end(EXIT.done);
  }
}
