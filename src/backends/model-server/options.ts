// What the drivers of servers that load models by themselves have in common in the configuration.

import { z } from "zod";
import type { ModelSpec } from "../../domain/model.ts";
import { remoteOptions } from "../remote.ts";

export interface ServerOptions {
  /** An origin: scheme, host and port. */
  readonly baseUrl: string;
  readonly apiKey?: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly watchSeconds: number;
}

/** @param address Where such a server listens unless told otherwise. */
export function serverFields(address: string) {
  return {
    baseUrl: originField(address).describe(
      "The server's own address, without a path. Models with the same address share one server.",
    ),
    apiKey: remoteOptions.shape.apiKey,
    headers: remoteOptions.shape.headers,
    watchSeconds: z
      .number()
      .min(0.5)
      .max(300)
      .default(2)
      .describe("How often the server is asked, in seconds, whether it still holds what was loaded."),
  };
}

/** @param address The default. */
export function originField(address: string) {
  return z
    .string()
    .superRefine((text, issues) => {
      const fault = originFault(text);
      if (fault !== null) issues.addIssue({ code: "custom", message: fault });
    })
    .default(address);
}

/** What is wrong with a server's address, in words; null when it is good. */
function originFault(text: string): string | null {
  if (!URL.canParse(text)) return "must be a URL such as http://127.0.0.1:8080";
  const url = new URL(text);
  if (url.protocol !== "http:" && url.protocol !== "https:") return "must begin with http:// or https://";
  if (url.username !== "" || url.password !== "") return "must hold no user name or password; use apiKey or headers";
  if (url.pathname === "/" && url.search === "" && url.hash === "") return null;
  return `must be the server's own address, without /v1 or another path; did you mean ${url.origin}?`;
}

export function originOf({ baseUrl }: Pick<ServerOptions, "baseUrl">): string {
  return new URL(baseUrl).origin;
}

export function headersOf({ apiKey, headers }: ServerOptions): Readonly<Record<string, string>> {
  const sent: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) sent[name.toLowerCase()] = value;
  if (apiKey !== undefined) sent["authorization"] = `Bearer ${apiKey}`;
  return sent;
}

/** What the server calls the model: what callers' bodies say when they reach it. */
export function servedNameOf({ name, upstreamName }: ModelSpec): string {
  return upstreamName ?? name;
}
