// Who holds the address that a router wants, and what to type instead: 8000 is vLLM's own port too.

import { createServer } from "node:net";
import type { Surroundings } from "../discovery/surroundings.ts";
import { originAt } from "./address.ts";
import type { Fault } from "./start-fault.ts";

const ANSWER_MS = 2_000;

/** An address that somebody else listens on, found out before anything was opened. */
export class PortTaken extends Error implements Fault {
  readonly text: string;
  readonly mend: string;

  constructor({ text, mend }: Fault) {
    super(text);
    this.name = "PortTaken";
    this.text = text;
    this.mend = mend;
  }
}

interface Wanted {
  readonly host: string;
  readonly port: number;
}

/**
 * Before the store is opened and jobs are recovered.
 *
 * @param config As it was given with `--config`, to be typed again.
 * @throws {PortTaken} or whatever else Node says to that address
 */
export async function requireFreePort(
  { host, port }: Wanted,
  config: string | undefined,
  surroundings: Surroundings,
): Promise<void> {
  const error = await tryListen(host, port);
  if (error === null) return;
  if (error.code !== "EADDRINUSE") throw error;
  const holder = (await isRouter(host, port)) ? "a router that runs already" : await engineAt(host, port, surroundings);
  const { ownPort } = await import("../discovery/own-port.ts");
  const { port: free } = await ownPort(host);
  const flags = `${config === undefined ? "" : `--config ${config} `}--port ${free}`;
  throw new PortTaken({
    text: `Port ${port} on ${host} is in use${holder === null ? "" : ` by ${holder}`}.`,
    mend:
      `Take another: \`npm start -- ${flags}\` or \`npx sir serve ${flags}\`, and for the other commands ` +
      `\`export SIR_URL=${originAt(host, free)}\`; or set server.port.`,
  });
}

/** Null: it is free. */
export function tryListen(host: string, port: number): Promise<NodeJS.ErrnoException | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", resolve);
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(null)));
  });
}

/** Which engine answers there, as people write it; null: none that is known. */
export async function engineAt(host: string, port: number, surroundings: Surroundings): Promise<string | null> {
  const { findEngines } = await import("../discovery/engine-search.ts");
  const { TITLES } = await import("../discovery/found.ts");
  const { engines } = await findEngines([originAt(host, port)], surroundings);
  const kind = engines[0]?.kind;
  if (kind === "openai") return "an engine with OpenAI's API";
  return kind === undefined || kind === "sir" ? null : (TITLES[kind] ?? null);
}

/** A router answers `/healthz` with its own object and carries a request id. */
export async function isRouter(host: string, port: number): Promise<boolean> {
  try {
    const answer = await fetch(`${originAt(host, port)}/healthz`, { signal: AbortSignal.timeout(ANSWER_MS) });
    const body: unknown = await answer.json();
    const healthy = typeof body === "object" && body !== null && "status" in body && body.status === "ok";
    return healthy && answer.headers.has("x-request-id");
  } catch {
    return false;
  }
}
