// Who answers where a router was expected: 8000 is vLLM's own port too. Asked before a prompt is sent there, and before an
// answer is taken for the router's.

import type { Io } from "./command.ts";

const REQUEST_ID = /^req_[0-9a-f]{32}$/;
const ANSWER_MS = 2_000;
const GATEWAY: ReadonlySet<number> = new Set([502, 503, 504]);

/** Every answer of a router carries a request's id. */
export function isRouters({ headers }: Response): boolean {
  return REQUEST_ID.test(headers.get("x-request-id") ?? "");
}

/**
 * What stands at `url` instead of a router, as a sentence; null: a router after all, whose header a proxy took away.
 *
 * @param status Of the answer that was none of a router's.
 * @param headers Of a request to it.
 */
export async function strangerAt(
  url: string,
  status: number,
  headers: Readonly<Record<string, string>>,
  io: Io,
): Promise<string | null> {
  const owners = await modelOwners(url, headers, io);
  if (owners.length > 0 && owners.every((owner) => owner === "sir")) return null;
  const { findEngines } = await import("../discovery/engine-search.ts");
  const { TITLES } = await import("../discovery/found.ts");
  const surroundings = { environment: io.environment, platform: process.platform, arch: process.arch, root: "" };
  const [engine] = (await findEngines([url], surroundings)).engines;
  if (engine === undefined && GATEWAY.has(status)) {
    return `${url} answered ${status}, and not as SIR does. Is it a proxy whose router is away?`;
  }
  const known = engine === undefined || engine.kind === "sir" || engine.kind === "openai" ? null : TITLES[engine.kind];
  return `${url} is not SIR (${known === null ? "something else answers there" : `it looks like ${known}`}). Set SIR_URL or --url.`;
}

async function modelOwners(url: string, headers: Readonly<Record<string, string>>, io: Io): Promise<unknown[]> {
  try {
    const response = await io.fetch(`${url}/v1/models`, { headers, signal: AbortSignal.timeout(ANSWER_MS) });
    const { data } = (await response.json()) as { readonly data?: readonly { readonly owned_by?: unknown }[] };
    return (data ?? []).map(({ owned_by }) => owned_by);
  } catch {
    return [];
  }
}
