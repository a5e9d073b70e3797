// Load on an HTTP server: open loop, where requests leave when they are due whatever became of those before, and closed
// loop, where a number of them is kept in flight.

import { Pool } from "undici";

export interface Ask {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
}

export interface Client {
  /** Sends and reads to the end. @throws when the status is another than `expected` */
  send(ask: Ask, expected?: number): Promise<Buffer>;
  /** The same, with the instants of the first and the last byte of the body, in ms since the request left. */
  timed(ask: Ask): Promise<{ readonly firstByteMs: number; readonly endMs: number }>;
  close(): Promise<void>;
}

export function createClient(origin: string, connections: number): Client {
  const pool = new Pool(origin, { connections, pipelining: 1, headersTimeout: 120_000, bodyTimeout: 120_000 });
  const request = (ask: Ask) =>
    pool.request({ method: ask.method, path: ask.path, headers: ask.headers ?? {}, body: ask.body ?? null });
  return {
    async send(ask, expected = 200) {
      const { statusCode, body } = await request(ask);
      const bytes = Buffer.from(await body.arrayBuffer());
      if (statusCode === expected) return bytes;
      throw new Error(`${ask.method} ${ask.path} was answered with ${statusCode}: ${bytes.toString().slice(0, 300)}`);
    },
    async timed(ask) {
      const fromMs = performance.now();
      const { statusCode, body } = await request(ask);
      let firstByteMs = Number.NaN;
      for await (const _ of body) if (Number.isNaN(firstByteMs)) firstByteMs = performance.now() - fromMs;
      if (statusCode !== 200) throw new Error(`${ask.method} ${ask.path} was answered with ${statusCode}`);
      return { firstByteMs, endMs: performance.now() - fromMs };
    },
    close: () => pool.destroy(),
  };
}

export interface OpenLoop {
  /** Each counted from the instant at which the request was due, so that a stall costs everyone who waited in it. */
  readonly tookMs: readonly number[];
  /** How late the requests left: what of `tookMs` is the load's own fault. */
  readonly lateMs: readonly number[];
}

/** Calls `send` so often a second, never waiting for an answer before the next. @throws the first failure */
export async function openLoop(perSecond: number, seconds: number, send: () => Promise<unknown>): Promise<OpenLoop> {
  const total = perSecond * seconds;
  const tookMs: number[] = [];
  const lateMs: number[] = [];
  const all: Promise<void>[] = [];
  const failures: unknown[] = [];
  const fromMs = performance.now();
  for (let n = 0; n < total; ) {
    for (const nowMs = performance.now(); n < total; n++) {
      const dueMs = fromMs + (n * 1_000) / perSecond;
      if (dueMs > nowMs) break;
      lateMs.push(nowMs - dueMs);
      const done = (): unknown => tookMs.push(performance.now() - dueMs);
      all.push(
        send()
          .then(done, (error: unknown) => failures.push(error))
          .then(() => undefined),
      );
    }
    await pause(1);
  }
  await Promise.all(all);
  if (failures.length > 0) throw failures[0];
  return { tookMs, lateMs };
}

/** Keeps `inFlight` requests going for so long; how many a second were answered. */
export async function closedLoop(inFlight: number, forMs: number, send: () => Promise<unknown>): Promise<number> {
  const fromMs = performance.now();
  let done = 0;
  const one = async (): Promise<void> => {
    while (performance.now() - fromMs < forMs) {
      await send();
      done++;
    }
  };
  await Promise.all(Array.from({ length: inFlight }, one));
  return (done * 1_000) / (performance.now() - fromMs);
}

export function pause(waitMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, waitMs));
}

/** A gauge or counter of the router's own metrics, by its line's beginning. */
export async function metric(client: Client, series: string): Promise<number> {
  const text = (await client.send({ method: "GET", path: "/metrics" })).toString();
  const line = text.split("\n").find((each) => each.startsWith(`${series} `));
  if (line === undefined) throw new Error(`/metrics has no ${series}`);
  return Number(line.slice(series.length + 1));
}
