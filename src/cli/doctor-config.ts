// What `sir doctor` says about the configuration itself and the Node that reads it.

import type { Problem } from "../config/problem.ts";
import type { ResolvedConfig } from "../config/resolved.ts";
import { type Check, fault, ok, warn } from "./check.ts";

const OLDEST_NODE = [20, 19] as const;

export function checkNode(version: string): Check {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [oldestMajor, oldestMinor] = OLDEST_NODE;
  if (major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)) return ok("node", `Node ${version}`);
  return fault("node", `Node ${version} is too old.`, `Install Node ${oldestMajor}.${oldestMinor} or later.`);
}

const plural = (count: number, word: string): string => `${count} ${word}${count === 1 ? "" : "s"}`;

export function checkConfig(config: ResolvedConfig): Check[] {
  const { engine, file } = config;
  const size = `${plural(engine.models.length, "model")}, ${plural(engine.devices.length, "device")}`;
  const found = ok("configuration", `${file ?? "defaults"}: ${size}, policy ${engine.policy.name}`);
  const warnings = config.warnings.map((text) => warn("configuration", text));
  const unused = config.unused.map((key) =>
    warn(key, `has no effect: the policy ${engine.policy.name} does not read it.`),
  );
  return [found, ...warnings, ...unused];
}

export function checkProblems(problems: readonly Problem[]): Check[] {
  return problems.map(({ path, text, mend }) => fault(path === "" ? "configuration" : path, text, mend));
}
