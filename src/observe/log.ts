// The log: one line for each event, with ids and numbers. Decisions carry their full arithmetic. Never a body, a prompt
// or a key: only what RouterEvent holds, and of errors only their codes.

import { type DestinationStream, type LevelWithSilent, type Logger, pino } from "pino";
import type { Emit } from "../domain/event.ts";
import { lineOf } from "./log-line.ts";
import { terminalLine } from "./terminal-line.ts";

/** What happened to one HTTP request. */
export type HttpLine =
  | {
      readonly type: "http.request";
      readonly requestId: string;
      readonly method: string;
      readonly route: string | null;
      readonly status: number;
      readonly tookMs: number;
      readonly job: string | null;
      readonly caller: string | null;
    }
  | { readonly type: "http.error"; readonly requestId: string; readonly error: unknown }
  | { readonly type: "http.dropped"; readonly requestId: string; readonly reason: string }
  | { readonly type: "stream.withheld"; readonly frames: number; readonly readers: number }
  | {
      readonly type: "http.denied";
      readonly requestId: string;
      readonly reason: string;
      readonly told: boolean;
      readonly silenced: number;
    };

export interface RouterLog {
  readonly listen: Emit;
  readonly http: (line: HttpLine) => void;
  /** For what is no event: start, stop, configuration. */
  readonly logger: Logger;
}

export interface LogOptions {
  readonly level: LevelWithSilent;
  /** Default: standard error. */
  readonly stream?: DestinationStream;
  /** Takes lines for people instead; absent: JSON. */
  readonly say?: ((line: string) => void) | undefined;
}

export function createLog({ level, stream, say }: LogOptions): RouterLog {
  const settings = { level, base: null, formatters: { level: (label: string) => ({ level: label }) } };
  const people = say === undefined ? undefined : { write: (json: string) => say(terminalLine(json)) };
  const logger = pino(settings, stream ?? people ?? pino.destination({ dest: 2, sync: false }));
  const listen: Emit = (event) => {
    const line = lineOf(event);
    if (logger.isLevelEnabled(line.level)) logger[line.level]({ event: event.type, ...line.fields() }, line.text);
  };
  const http = (line: HttpLine): void => {
    if (line.type === "http.error") {
      logger.error({ event: line.type, request: line.requestId, ...traceOf(line.error) }, "a request failed inside");
      return;
    }
    if (line.type === "http.dropped") {
      logger.warn({ event: line.type, request: line.requestId, reason: line.reason }, "a slow reader was dropped");
      return;
    }
    if (line.type === "stream.withheld") {
      const { type: event, frames, readers } = line;
      logger.warn({ event, frames, readers }, "dashboards that lag were not sent frames");
      return;
    }
    if (line.type === "http.denied") {
      const { requestId, reason, told, silenced } = line;
      if (told)
        logger.warn({ event: line.type, request: requestId, key: reason, silenced }, "a request without a valid key");
      return;
    }
    const { method, route, status, tookMs, job, caller } = line;
    const fields = { event: line.type, request: line.requestId, method, route, status, took_ms: tookMs, job, caller };
    // Who did what to the router is asked about later; who asked what is not.
    if (method !== "GET" && route?.startsWith("/admin/") === true) logger.info(fields, "an operator's act");
    else logger.debug(fields);
  };
  return { listen, http, logger };
}

/** Where an unexpected error happened, without its message: that may quote what a caller sent. */
function traceOf(error: unknown): { error: string; at: string[] } {
  if (!(error instanceof Error)) return { error: typeof error, at: [] };
  const frames = (error.stack ?? "").split("\n").filter((frame) => /^\s+at /.test(frame));
  return { error: error.name, at: frames.slice(0, 8).map((frame) => frame.trim()) };
}
