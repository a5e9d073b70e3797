// The public API: what a configuration file or a program that embeds the router imports.

export type { Router, RouterOptions } from "./assemble.ts";
export { startRouter } from "./assemble.ts";
export type {
  Backend,
  Call,
  Capabilities,
  Driver,
  DriverContext,
  Head,
  Instance,
  LoadProgress,
  Member,
  Outcome,
  Placement,
  Sink,
} from "./backends/backend.ts";
export { defineDriver, LoadError } from "./backends/backend.ts";
export { defineConfig } from "./config/define.ts";
export type { Environment, Flags, LoadOptions } from "./config/load.ts";
export { loadConfig } from "./config/load.ts";
export { ConfigError } from "./config/problem.ts";
export type { ResolvedConfig } from "./config/resolved.ts";
export type { ConfigInput } from "./config/schema.ts";
export type { Emit, RouterEvent } from "./domain/event.ts";
export type { Candidate, Choice, Field, Policy } from "./scheduler/policy.ts";
export { definePolicy } from "./scheduler/policy.ts";
