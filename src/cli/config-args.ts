// The flags of every command that reads a configuration.

import type { ArgsDef } from "citty";
import type { Flags } from "../config/load.ts";

export const CONFIG_ARGS = {
  config: { type: "string", valueHint: "FILE", description: "Configuration file (SIR_CONFIG)." },
  host: { type: "string", valueHint: "HOST", description: "Address to listen on (SIR_HOST)." },
  port: { type: "string", valueHint: "PORT", description: "Port to listen on (SIR_PORT)." },
  store: { type: "string", valueHint: "URL", description: "Store, as sqlite:PATH (SIR_STORE)." },
  logLevel: { type: "string", valueHint: "LEVEL", description: "debug, info, warn, error or silent (SIR_LOG_LEVEL)." },
} as const satisfies ArgsDef;

export function flagsFrom(args: Readonly<Record<string, unknown>>): Flags {
  const flags: { -readonly [Name in keyof Flags]: Flags[Name] } = {};
  for (const name of ["config", "host", "port", "store", "logLevel"] as const) {
    const value = args[name];
    if (typeof value === "string") flags[name] = value;
  }
  return flags;
}
