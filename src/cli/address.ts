// Where the router is that a command asks: where it is told, else where `sir serve` of this very folder would listen.

import { relative } from "node:path";
import { configIn, findConfig } from "../config/find.ts";
import { ConfigError } from "../config/problem.ts";
import { type Io, UsageError } from "./command.ts";

export const DEFAULT_URL = "http://127.0.0.1:8000";

export interface Address {
  /** An origin, perhaps with a path before `/v1`. */
  readonly url: string;
  /** The same with the file that it is from, for messages. */
  readonly text: string;
}

type Args = Readonly<Record<string, unknown>>;

/**
 * A configuration that cannot be read is said on standard error, and the default holds.
 * @throws {UsageError} when what was told is no address
 */
export async function routerAddress(args: Args, io: Io): Promise<Address> {
  const told = toldUrl(args["url"], io);
  if (told !== null) return { url: told, text: told };
  try {
    return await listenAddress(args["config"], io);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    io.err(`sir: asking ${DEFAULT_URL}, because where the router listens cannot be read: ${error.message}`);
    return { url: DEFAULT_URL, text: DEFAULT_URL };
  }
}

/** By flag or SIR_URL; null: neither is there. @throws {UsageError} when it is no address */
export function toldUrl(given: unknown, io: Io): string | null {
  const text = typeof given === "string" && given !== "" ? given : io.environment["SIR_URL"] || null;
  if (text === null) return null;
  const url = text.replace(/\/+$/, "").replace(/\/v1$/, "");
  if (/^https?:\/\//.test(url) && URL.canParse(url)) return url;
  throw new UsageError(`"${text}" is no address. Write it as ${DEFAULT_URL}.`);
}

async function listenAddress(config: unknown, { environment, cwd }: Io): Promise<Address> {
  const explicit = typeof config === "string" ? config : environment["SIR_CONFIG"] || null;
  const file = explicit === null ? configIn(cwd) : findConfig(explicit, cwd).file;
  const { SIR_HOST, SIR_PORT } = environment;
  if (file === null && !SIR_HOST && !SIR_PORT) return { url: DEFAULT_URL, text: DEFAULT_URL };
  const { readListenAddress } = await import("../config/listen-address.ts");
  const { host, port } = await readListenAddress(file, { SIR_HOST, SIR_PORT });
  // Any free port: where it is, the router alone has said.
  const url = port === 0 ? DEFAULT_URL : originAt(host, port);
  return { url, text: file === null || port === 0 ? url : `${url} (from ${relative(cwd, file)})` };
}

/** Where one reaches what listens there; on all addresses: this machine's own. */
export function originAt(host: string, port: number): string {
  const reachable = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
  return `http://${reachable.includes(":") ? `[${reachable}]` : reachable}:${port}`;
}
