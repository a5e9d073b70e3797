// What one command of `sir` is, and what it is given. Data goes to standard output, talk to standard error.

import type { ArgsDef, ParsedArgs } from "citty";
import type { Clock } from "../domain/clock.ts";
import type { ExitCode } from "./exit-codes.ts";
import type { Zone } from "./zone.ts";

export type SignalName = "SIGTERM" | "SIGINT" | "SIGHUP" | "SIGQUIT" | "SIGWINCH";

/** What stands behind the three streams of a command. */
export interface Screen {
  /** Whether each of them is a terminal. */
  readonly input: boolean;
  readonly out: boolean;
  readonly err: boolean;
  /** The locale can show more than ASCII. */
  readonly unicode: boolean;
  /** TERM=dumb: it cannot move its cursor. */
  readonly dumb: boolean;
  /** Of the terminal behind `out` or `err`, now. */
  size(): { readonly columns: number; readonly rows: number };
}

export interface Io {
  /** One piece of data; a line end is added. */
  out(text: string): void;
  /** Warnings, errors; a line end is added. */
  err(text: string): void;
  /** Talk that is neither data nor an error, on standard error; `--quiet` silences it. A line end is added. */
  say(text: string): void;
  /** Data as it is, without a line end. */
  write(data: string | Uint8Array): void;
  /** To standard error as it is, for lines that are rewritten in place. */
  draw(text: string): void;
  readonly screen: Screen;
  /** Standard input to its end. */
  readInput(): Promise<string>;
  /** Shows `prompt` on standard error and resolves with the line that is typed; empty when the input ends. */
  question(prompt: string): Promise<string>;
  /** Calls back with each key as the terminal sends it, unechoed; returns how to give the terminal back. */
  onKey(heard: (key: string) => void): () => void;
  readonly fetch: typeof globalThis.fetch;
  /** Progress lines and other talk are not wanted. */
  readonly quiet: boolean;
  /** In whose time instants are told. */
  readonly zone: Zone;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Whether `out` may be coloured. */
  readonly color: boolean;
  readonly version: string;
  readonly clock: Clock;
  /** Calls back each time the signal comes; returns how to stop listening. */
  onSignal(name: SignalName, heard: () => void): () => void;
  /** Calls back, synchronously, whatever the process ends of (but SIGKILL); returns how to stop that. */
  onExit(last: () => void): () => void;
  /** Ends the process at once, without waiting for anything. */
  abort(code: ExitCode): void;
}

export interface Command<Args extends ArgsDef = ArgsDef> {
  readonly name: string;
  readonly summary: string;
  /** Shown first in the help: a line to type, and what it does. */
  readonly examples: readonly (readonly [line: string, what: string])[];
  readonly args: Args;
  /** String flags that may be given several times: the last alone is a text, several are a list. */
  readonly repeats?: readonly string[];
  /** Takes any number of words after those in `args`; they are in `_`. */
  readonly manyWords?: boolean;
  run(args: ParsedArgs<Args>, io: Io): Promise<ExitCode>;
}

/** Typed identity; hides the type of the arguments. */
export function defineSirCommand<const Args extends ArgsDef>(command: Command<Args>): Command {
  return command as unknown as Command;
}

/** Something the caller typed is wrong. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "UsageError";
  }
}
