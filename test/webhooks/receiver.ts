// Somebody who receives webhooks: a server on loopback that keeps what came and answers as it is told.

import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

export interface Came {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface Receiver {
  readonly url: string;
  readonly came: Came[];
  /** Statuses of the next answers; the last one stays. 0: no answer at all. */
  answers: { status: number; headers?: Record<string, string> }[];
}

export async function receiver(): Promise<Receiver> {
  const came: Came[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      came.push({ headers: request.headers, body: Buffer.concat(chunks).toString() });
      const [next = { status: 200 }] = self.answers;
      if (self.answers.length > 1) self.answers.shift();
      if (next.status !== 0) response.writeHead(next.status, next.headers ?? {}).end("ignored");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  const self: Receiver = { url: `http://127.0.0.1:${port}/hook?token=hidden`, came, answers: [{ status: 200 }] };
  return self;
}
