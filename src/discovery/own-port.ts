// A port for the router: 8000, and where that is held (it is vLLM's own default too) the first free of 8100, 8200 and on.

import { createServer } from "node:net";

const WANTED: readonly number[] = [8_000, 8_100, 8_200, 8_300, 8_400, 8_500, 8_600, 8_700, 8_800, 8_900];

export interface OwnPort {
  readonly port: number;
  /** Those before it that were held. */
  readonly held: readonly number[];
}

export async function ownPort(host = "127.0.0.1", wanted: readonly number[] = WANTED): Promise<OwnPort> {
  const held: number[] = [];
  for (const port of wanted) {
    if (await isFree(port, host)) return { port, held };
    held.push(port);
  }
  return { port: wanted[0] ?? 8_000, held };
}

function isFree(port: number, host: string): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(true)));
  });
}
