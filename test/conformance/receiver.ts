// Receives the router's webhooks, so that each client can be shown the one about its own response.

import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";

export interface Came {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface Receiver {
  readonly url: string;
  readonly secret: string;
  /** Undefined until it came. */
  about(id: string): Came | undefined;
  close(): void;
}

export async function startReceiver(): Promise<Receiver> {
  const came: Came[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      came.push({ headers: request.headers, body: Buffer.concat(chunks).toString() });
      response.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    secret: `whsec_${Buffer.alloc(32, 7).toString("base64")}`,
    about: (id) => came.find(({ body }) => body.includes(id)),
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
