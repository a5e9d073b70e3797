// What one command of `sir` is, and what it is given. Data goes to standard output, talk to standard error.

import type { ArgsDef, ParsedArgs } from "citty";
import type { Clock } from "../domain/clock.ts";
import type { ExitCode } from "./exit-codes.ts";

export type SignalName = "SIGTERM" | "SIGINT" | "SIGHUP";

export interface Io {
  /** One piece of data; a line end is added. */
  out(text: string): void;
  /** Progress, warnings, errors; a line end is added. */
  err(text: string): void;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Whether `out` may be coloured. */
  readonly color: boolean;
  readonly version: string;
  readonly clock: Clock;
  /** Calls back each time the signal comes; returns how to stop listening. */
  onSignal(name: SignalName, heard: () => void): () => void;
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
