// A small valid configuration to change one thing in, and what its loader says about it.

import { resolveConfig } from "../../src/config/load.ts";
import type { Override } from "../../src/config/origin.ts";
import { ConfigError, type Problem } from "../../src/config/problem.ts";
import type { ResolvedConfig } from "../../src/config/resolved.ts";

type Section = Readonly<Record<string, unknown>>;

export const mock = { driver: "mock" };

export function document(change: Section = {}): Section {
  return { models: { chat: { loadSeconds: 2, backend: mock }, code: { loadSeconds: 3, backend: mock } }, ...change };
}

export function resolve(change: Section = {}, overrides: readonly Override[] = []): ResolvedConfig {
  return resolveConfig(document(change), {
    file: "/etc/sir/sir.config.ts",
    baseDir: "/etc/sir",
    cwd: "/srv",
    overrides,
  });
}

/** The problems of a configuration that is refused; fails when it is not. */
export function problems(change: Section): readonly Problem[] {
  try {
    resolve(change);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  throw new Error("the configuration was accepted");
}
