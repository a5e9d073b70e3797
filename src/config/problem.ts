// What can be wrong with a configuration, in words: where, what came, what to do.

import type { z } from "zod";
import { closest } from "./closest.ts";

export interface Problem {
  /** As one would write it: `models["Qwen/Qwen3-8B"].loadSeconds`. Empty for the file as a whole. */
  readonly path: string;
  readonly text: string;
  /** What to do about it. */
  readonly mend: string;
}

/** Nothing is started from a configuration with problems. `message` holds all of them, one a line. */
export class ConfigError extends Error {
  readonly problems: readonly Problem[];

  constructor(file: string | null, problems: readonly Problem[], cause?: unknown) {
    const lines = problems.map((each) =>
      `  ${each.path === "" ? "" : `${each.path}: `}${each.text} ${each.mend}`.trimEnd(),
    );
    const count = problems.length === 1 ? "1 problem" : `${problems.length} problems`;
    super(
      `${file ?? "the configuration"} has ${count}:\n${lines.join("\n")}`,
      cause === undefined ? undefined : { cause },
    );
    this.name = "ConfigError";
    this.problems = problems;
  }
}

const PLAIN_KEY = /^[A-Za-z_$][\w$]*$/;

export function pathText(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, key) => {
    if (typeof key === "number") return `${text}[${key}]`;
    const word = String(key);
    if (!PLAIN_KEY.test(word)) return `${text}[${JSON.stringify(word)}]`;
    return text === "" ? word : `${text}.${word}`;
  }, "");
}

/** Whether what lies under this key may be a secret. */
export function holdsSecret(key: PropertyKey): boolean {
  return /^(apiKey|headers|authorization|token|password|secret|sha256)$/i.test(String(key));
}

function valueAt(document: unknown, path: readonly PropertyKey[]): unknown {
  let value = document;
  for (const key of path) {
    if (typeof value !== "object" || value === null) return undefined;
    value = (value as Record<PropertyKey, unknown>)[key];
  }
  return value;
}

/** Short, and never a secret. */
function shown(value: unknown, path: readonly PropertyKey[]): string {
  if (value === undefined) return "nothing";
  if (path.some(holdsSecret)) return "a value that is not shown";
  const text = typeof value === "function" ? "a function" : (JSON.stringify(value) ?? String(value));
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}

/** The keys that are allowed at a path; the caller knows the schema. */
export type KnownKeys = (path: readonly PropertyKey[]) => readonly string[];

export function problemsOf(
  error: z.ZodError,
  document: unknown,
  prefix: readonly PropertyKey[],
  known: KnownKeys,
): Problem[] {
  return error.issues.flatMap((issue) => {
    const path = [...prefix, ...issue.path];
    if (issue.code === "unrecognized_keys") {
      const keys = known(path);
      return issue.keys.map((key) => {
        const near = closest(key, keys);
        const mend = near === null ? `Known: ${keys.join(", ")}.` : `Did you mean "${near}"?`;
        return { path: pathText([...path, key]), text: "is not a known key.", mend };
      });
    }
    const came = shown(valueAt(document, issue.path), path);
    const missing = came === "nothing";
    return [
      {
        path: pathText(path),
        text: missing ? "is missing." : `came as ${came}.`,
        mend: `${capital(issue.message)}.`,
      },
    ];
  });
}

function capital(text: string): string {
  const bare = text.replace(/^Invalid input: /, "").replace(/\.$/, "");
  return bare.charAt(0).toUpperCase() + bare.slice(1);
}
