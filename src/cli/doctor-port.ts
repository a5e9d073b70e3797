// Whether the router's address is free, or held by a router already.

import { createServer } from "node:net";
import type { ServerSettings } from "../config/resolved.ts";
import { findEngines } from "../discovery/engine-search.ts";
import { TITLES } from "../discovery/found.ts";
import { ownPort } from "../discovery/own-port.ts";
import type { Surroundings } from "../discovery/surroundings.ts";
import { originAt } from "./address.ts";
import { type Check, fault, ok } from "./check.ts";
import { startFault } from "./start-fault.ts";

const ANSWER_MS = 2_000;

export async function checkPort({ host, port }: ServerSettings, surroundings: Surroundings): Promise<Check> {
  const error = await tryListen(host, port);
  if (error === null) return ok("address", port === 0 ? `${host}, any free port` : `${host}:${port} is free`);
  if (error.code === "EADDRINUSE" && (await isRouter(host, port))) {
    return ok("address", `${host}:${port} is held by a running router`);
  }
  const engine = error.code === "EADDRINUSE" ? await engineAt(host, port, surroundings) : null;
  if (engine !== null) {
    // 8000 is vLLM's own default too.
    const { port: free } = await ownPort(host);
    return fault(
      "address",
      `${host}:${port} belongs to ${engine}.`,
      `Set server.port to ${free}, or start with --port ${free}.`,
    );
  }
  const found = startFault(error, { host, port, dataDir: null });
  return fault(
    "address",
    found?.text ?? `${host}:${port}: ${error.message}.`,
    found?.mend ?? "Choose another address.",
  );
}

function tryListen(host: string, port: number): Promise<NodeJS.ErrnoException | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", resolve);
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(null)));
  });
}

async function engineAt(host: string, port: number, surroundings: Surroundings): Promise<string | null> {
  const { engines } = await findEngines([originAt(host, port)], surroundings);
  const kind = engines[0]?.kind;
  return kind === undefined || kind === "sir" ? null : (TITLES[kind] ?? null);
}

/** A router answers `/healthz` with its own object and carries a request id. */
async function isRouter(host: string, port: number): Promise<boolean> {
  try {
    const answer = await fetch(`${originAt(host, port)}/healthz`, { signal: AbortSignal.timeout(ANSWER_MS) });
    const body: unknown = await answer.json();
    const healthy = typeof body === "object" && body !== null && "status" in body && body.status === "ok";
    return healthy && answer.headers.has("x-request-id");
  } catch {
    return false;
  }
}
