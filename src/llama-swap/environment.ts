// A model's environment, and keys wherever they stand: what is written down as a text there is named as a variable here.
// A configuration holds no secret.

import type { Draft } from "./draft.ts";
import type { Field } from "./source.ts";
import { type Macros, namesEnvironment } from "./words.ts";

const SECRET = /(TOKEN|KEY|SECRET|PASSWORD|PASSWD)$/i;
const KEY_FLAG = "--api-key";

/** As variables of the environment are named in llama-swap's files. */
const variable = (name: string): string => `\${env.${name}}`;

export function environmentOf(
  field: Field | undefined,
  macros: Macros,
  { ledger }: Draft,
  resolved: (word: string) => string,
): Record<string, string> {
  if (field === undefined) return {};
  const lines = Array.isArray(field.value) ? field.value.map(String) : [];
  const pairs = lines.map((line) => /^([A-Za-z_][A-Za-z0-9_]*)=([\s\S]*)$/.exec(resolved(macros.fill(line))));
  const env: Record<string, string> = {};
  const secrets: string[] = [];
  for (const pair of pairs) {
    const [, name, value = ""] = pair ?? [];
    if (name === undefined) continue;
    const secret = SECRET.test(name) && value !== "" && !namesEnvironment(value);
    if (secret) secrets.push(name);
    env[name] = secret ? variable(name) : value;
  }
  if (secrets.length > 0)
    ledger.change(field, `${secrets.join(", ")}: not copied; put it into the environment of the router.`);
  else if (!Array.isArray(field.value) || pairs.includes(null)) {
    ledger.change(field, "what is not of the form NAME=value is not written.");
  } else ledger.carry(field);
  return env;
}

export interface Keyed {
  readonly words: readonly string[];
  /** What the engine asks for; null: nothing. */
  readonly key: string | null;
  /** The variable that now stands where a key was written down; null: none was. */
  readonly moved: string | null;
}

/** llama-swap hands callers' keys on to the engine; SIR never does, and has to be told the engine's own. */
export function withoutKey(id: string, words: readonly string[]): Keyed {
  const at = words.findIndex((word) => word === KEY_FLAG || word.startsWith(`${KEY_FLAG}=`));
  const inline = words[at]?.startsWith(`${KEY_FLAG}=`) === true;
  const given = inline ? words[at]?.slice(KEY_FLAG.length + 1) : words[at + 1];
  if (at < 0 || given === undefined || given === "") return { words, key: null, moved: null };
  if (namesEnvironment(given)) return { words, key: given, moved: null };
  const moved = `${id
    .toUpperCase()
    .replaceAll(/[^A-Z0-9]+/g, "_")
    .replace(/^(?=\d)/, "_")}_ENGINE_KEY`;
  const key = variable(moved);
  const put = inline ? words.with(at, `${KEY_FLAG}=${key}`) : words.with(at + 1, key);
  return { words: put, key, moved };
}
