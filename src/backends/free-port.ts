// Ports for engines that are started here. A port that was handed out is not handed out again while it is held, so two
// starts at once never get the same one; whether another program takes it first can only be seen when the engine tries.

import { createServer } from "node:net";
import { LoadError } from "./backend.ts";

/** Held by this process, as `host port`. The machine's ports are one, however many routers run in here. */
const held = new Set<string>();
const TRIES = 20;

export interface HeldPort {
  readonly port: number;
  /** Once the engine is gone. Idempotent. */
  release(): void;
}

/** A port of `host` that nobody listens on. @throws {LoadError} */
export async function holdFreePort(host: string): Promise<HeldPort> {
  for (let tries = 0; tries < TRIES; tries++) {
    const found = await listenOnce(host, 0);
    if (typeof found === "string") throw new LoadError(`there is no free port on ${host}: ${found}`);
    const port = hold(host, found);
    if (port !== null) return port;
  }
  throw new LoadError(`there is no free port on ${host}`);
}

/** This port of `host`, if nobody listens on it: an engine's health must never be answered by another's. @throws {LoadError} */
export async function holdPort(host: string, wanted: number): Promise<HeldPort> {
  const port = hold(host, wanted);
  if (port === null) throw new LoadError(`port ${wanted} of ${host} is used by another engine of this router`);
  const found = await listenOnce(host, wanted);
  if (typeof found === "number") return port;
  port.release();
  throw new LoadError(
    `port ${wanted} of ${host} cannot be used: ${found}; stop what listens on it, or leave out the port`,
  );
}

/** The port of an engine that runs already. */
export function holdUsedPort(host: string, port: number): HeldPort {
  return hold(host, port) ?? { port, release: () => undefined };
}

function hold(host: string, port: number): HeldPort | null {
  const key = `${host} ${port}`;
  if (held.has(key)) return null;
  held.add(key);
  let released = false;
  return {
    port,
    release: () => {
      if (!released) held.delete(key);
      released = true;
    },
  };
}

/** The port once it was bound and let go again, or in words why it was not. */
function listenOnce(host: string, port: number): Promise<number | string> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", (error: NodeJS.ErrnoException) => resolve(wordsOf(error)));
    server.listen({ host, port, exclusive: true }, () => {
      const address = server.address();
      const bound = typeof address === "object" && address !== null ? address.port : 0;
      server.close(() => resolve(bound));
    });
  });
}

function wordsOf({ code, message }: NodeJS.ErrnoException): string {
  if (code === "EADDRINUSE") return "another program listens on it";
  if (code === "EACCES") return "this user may not listen on it";
  if (code === "EADDRNOTAVAIL" || code === "ENOTFOUND") return "this machine has no such address";
  return message;
}
