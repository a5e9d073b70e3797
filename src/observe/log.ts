// The log: one line for each event, with ids and numbers. Decisions carry their full arithmetic. Never a body, a prompt
// or a key: only what RouterEvent holds, and of errors only their codes.

import { type DestinationStream, type LevelWithSilent, type Logger, pino } from "pino";
import type { Emit } from "../domain/event.ts";
import { lineOf } from "./log-line.ts";

export interface RouterLog {
  readonly listen: Emit;
  /** For what is no event: start, stop, configuration. */
  readonly logger: Logger;
}

export interface LogOptions {
  readonly level: LevelWithSilent;
  /** Default: standard error. */
  readonly stream?: DestinationStream;
}

export function createLog({ level, stream }: LogOptions): RouterLog {
  const settings = { level, base: null, formatters: { level: (label: string) => ({ level: label }) } };
  const logger = pino(settings, stream ?? pino.destination({ dest: 2, sync: false }));
  const listen: Emit = (event) => {
    const line = lineOf(event);
    if (logger.isLevelEnabled(line.level)) logger[line.level]({ event: event.type, ...line.fields() }, line.text);
  };
  return { listen, logger };
}
