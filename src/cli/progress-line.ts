// The line that says where a job stands: rewritten in place on a terminal; elsewhere a new line when it changes, and at
// most each ten seconds.

import type { Timer } from "../domain/clock.ts";
import type { Io } from "./command.ts";
import { cutEnd, harmless } from "./width.ts";

const SPINNER = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"] as const;
const PLAIN_SPINNER = ["|", "/", "-", "\\"] as const;
const FRAME_MS = 250;
const APART_MS = 10_000;
const CLEAR_LINE = "\r\u001b[K";

export class ProgressLine {
  readonly #io: Io;
  /** What it says now; asked at each frame, because times go on. */
  readonly #text: () => string;
  readonly #hint: string;
  readonly #inPlace: boolean;
  #timer: Timer | null = null;
  #frame = 0;
  #said = "";
  #saidMs = Number.NEGATIVE_INFINITY;

  constructor(io: Io, text: () => string, hint: string) {
    this.#io = io;
    this.#text = text;
    this.#hint = hint;
    this.#inPlace = io.screen.err && !io.screen.dumb;
  }

  start(): void {
    if (this.#io.quiet) return;
    this.#draw();
    const { clock } = this.#io;
    this.#timer = clock.at(clock.nowMs() + FRAME_MS, () => this.start());
  }

  /** Takes the line away, so that something else can be printed. */
  stop(): void {
    this.#timer?.cancel();
    this.#timer = null;
    if (this.#inPlace && this.#said !== "") this.#io.draw(CLEAR_LINE);
    this.#said = "";
  }

  #draw(): void {
    const text = harmless(this.#text());
    const nowMs = this.#io.clock.nowMs();
    if (!this.#inPlace) {
      // What only counts up is no change.
      const same = withoutTimes(text) === withoutTimes(this.#said);
      if (same || nowMs - this.#saidMs < APART_MS) return;
      this.#said = text;
      this.#saidMs = nowMs;
      this.#io.say(text);
      return;
    }
    const signs = this.#io.screen.unicode ? SPINNER : PLAIN_SPINNER;
    const { columns } = this.#io.screen.size();
    const mark = this.#io.screen.unicode ? "…" : "~";
    const line = cutEnd(`${signs[this.#frame % signs.length]} ${text}`, columns - 1, mark);
    const room = columns - 1 - line.length;
    const hint = room > this.#hint.length + 2 ? this.#hint.padStart(room) : "";
    this.#io.draw(`${CLEAR_LINE}${line}${hint}`);
    this.#said = text;
    this.#frame++;
  }
}

function withoutTimes(text: string): string {
  return text.replaceAll(/\d+(\.\d+)?(?=[smhd%: ])/g, "#");
}
