// What an engine said before it ended, fit for an error: bounded, and without the secrets it was given.

import { LoadError } from "../backend.ts";
import type { VllmDockerOptions } from "./options.ts";

const LINE_CHARS = 300;
const SECRET_NAME = /TOKEN|KEY|SECRET|PASS|CREDENTIAL/i;
/** Shorter values would blot out words. */
const SECRET_CHARS = 6;

export function lastWords(error: unknown, tail: readonly string[], options: VllmDockerOptions): LoadError {
  const message = error instanceof Error ? error.message : String(error);
  const named = Object.entries(options.env).filter(([name]) => SECRET_NAME.test(name));
  const secrets = [...named.map(([, value]) => value), options.apiKey ?? ""].filter(
    ({ length }) => length >= SECRET_CHARS,
  );
  const hidden = (text: string): string => secrets.reduce((left, secret) => left.replaceAll(secret, "***"), text);
  return new LoadError(
    hidden(message),
    tail.map((line) => hidden(line).slice(0, LINE_CHARS)),
    error,
  );
}
