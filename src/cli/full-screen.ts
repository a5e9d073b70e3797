// The terminal taken over and given back: the alternate screen, no cursor, no wrapping, frames that do not flicker. Given back
// whatever the process ends of.

import type { Io } from "./command.ts";

const ENTER = "\u001b[?1049h\u001b[?25l\u001b[?7l";
const LEAVE = "\u001b[?7h\u001b[?25h\u001b[?1049l";
/** Terminals that know it show a frame at once; the others skip it. */
const [BEGIN, END] = ["\u001b[?2026h", "\u001b[?2026l"];

export interface FullScreen {
  draw(lines: readonly string[]): void;
  /** Safe to call twice. */
  leave(): void;
}

export function enterFullScreen(io: Io): FullScreen {
  let here = true;
  const leave = (): void => {
    if (!here) return;
    here = false;
    forget();
    io.write(LEAVE);
  };
  // Last: a crash prints its trace on the screen that was there before.
  const forget = io.onExit(leave);
  io.write(ENTER);
  return {
    leave,
    draw(lines) {
      if (here) io.write(`${BEGIN}\u001b[H${lines.map((line) => `${line}\u001b[K`).join("\r\n")}\u001b[J${END}`);
    },
  };
}
