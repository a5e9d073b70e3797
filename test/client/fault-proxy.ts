// A proxy between a client and a server, on loopback, that does to single exchanges what networks and proxies do.

import { createServer, type IncomingHttpHeaders, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll } from "vitest";

export interface Passing {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/**
 * `pass`: nothing happens to it. `lost`: the server answers, but the client's socket is closed instead. `refused`: the
 * socket is closed at once. `hang`: nothing ever comes. Else this answer instead of the server's.
 */
export type Fate =
  | "pass"
  | "lost"
  | "refused"
  | "hang"
  | { readonly status: number; readonly headers?: Record<string, string>; readonly body?: string };

export interface FaultProxy {
  readonly origin: string;
  readonly passed: Passing[];
  /** Sockets that were ever opened to it. */
  readonly sockets: () => number;
  /** Where it passes on to; may change, as a router that is started again has another port. */
  target: string;
  /** Decides for each exchange; default: all pass. */
  fate: (passing: Passing) => Fate;
  /** Closes every socket that is open. */
  cut(): void;
  /** Those to this part of a path. */
  to(part: string, method?: string): Passing[];
}

export async function startProxy(target = "http://127.0.0.1:9"): Promise<FaultProxy> {
  let sockets = 0;
  const passed: Passing[] = [];
  const server = createServer((incoming, outgoing) => void take(incoming, outgoing));
  server.on("connection", () => {
    sockets += 1;
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  afterAll(() => {
    server.close();
    server.closeAllConnections();
  });
  const proxy: FaultProxy = {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    passed,
    sockets: () => sockets,
    target,
    fate: () => "pass",
    cut: () => server.closeAllConnections(),
    to: (part, method) => passed.filter((each) => each.path.includes(part) && (!method || each.method === method)),
  };
  const take = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of incoming) chunks.push(chunk);
    } catch {
      return;
    }
    const { method = "GET", url: path = "", headers } = incoming;
    const passing = { method, path, headers, body: Buffer.concat(chunks) };
    passed.push(passing);
    const fate = proxy.fate(passing);
    if (fate === "refused") incoming.socket.destroy();
    else if (fate === "pass" || fate === "lost") forward(proxy.target, passing, outgoing, fate === "lost");
    else if (fate !== "hang") outgoing.writeHead(fate.status, fate.headers ?? {}).end(fate.body ?? "");
  };
  return proxy;
}

function forward(target: string, { method, path, headers, body }: Passing, outgoing: ServerResponse, lost: boolean) {
  const upstream = request(`${target}${path}`, { method, headers, agent: false }, (answer) => {
    if (lost) {
      answer.resume().on("end", () => outgoing.destroy());
      return;
    }
    outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(outgoing);
    answer.on("error", () => outgoing.destroy());
  });
  upstream.on("error", () => outgoing.destroy());
  // A client that hangs up is passed on, too.
  outgoing.on("close", () => upstream.destroy());
  upstream.end(body);
}

/** The first `count` exchanges that `matches` meet this fate, all others pass. */
export function first(count: number, fate: Fate, matches: (passing: Passing) => boolean): (passing: Passing) => Fate {
  let left = count;
  return (passing) => {
    if (left === 0 || !matches(passing)) return "pass";
    left -= 1;
    return fate;
  };
}

export const isSubmit = ({ method, path }: Passing): boolean => method === "POST" && !path.includes("/jobs/");
export const isPoll = ({ path }: Passing): boolean => path.endsWith("/result");
