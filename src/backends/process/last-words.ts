// What an engine said before a load failed or before it ended, fit for an error: bounded, without the secrets it was given.

import { LoadError } from "../backend.ts";
import type { LogRing } from "../log-ring.ts";
import type { EngineMember } from "./launch-plan.ts";

const TAIL_LINES = 40;
const LINE_CHARS = 300;
const SECRET_NAME = /TOKEN|KEY|SECRET|PASS|CREDENTIAL/i;
/** Shorter values would blot out words. */
const SECRET_CHARS = 6;

/** Replaces the secrets in a line by stars. */
export function hiding(
  { options }: EngineMember,
  environment: Readonly<Record<string, string | undefined>>,
): (text: string) => string {
  const given = [environment, options.env, ...Object.values(options.deviceEnv)].flatMap((each) => Object.entries(each));
  const named = given.filter(([name]) => SECRET_NAME.test(name)).map(([, value]) => value ?? "");
  const secrets = [...new Set([...named, options.apiKey ?? ""])].filter(({ length }) => length >= SECRET_CHARS);
  return (text) => secrets.reduce((left, secret) => left.replaceAll(secret, "***"), text);
}

export function tailOf(log: LogRing, hide: (text: string) => string): readonly string[] {
  return log.last(TAIL_LINES).map((line) => hide(line).slice(0, LINE_CHARS));
}

export function lastWords(error: unknown, log: LogRing | null, hide: (text: string) => string): LoadError {
  const message = error instanceof Error ? error.message : String(error);
  return new LoadError(hide(message), log === null ? [] : tailOf(log, hide), error);
}
