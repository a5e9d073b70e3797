// An OTLP/HTTP receiver: takes JSON as a collector would, and tells what came.

import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import { type ReceivedSpan, spansIn } from "./otlp.ts";

export interface Receiver {
  readonly url: string;
  readonly spans: ReceivedSpan[];
  /** What was POSTed, as it came. */
  readonly bodies: string[];
  /** What it answers; 200 unless told otherwise. */
  status: number;
  /** Answers come once it is resolved. */
  held: Promise<void>;
}

export async function otlpReceiver(): Promise<Receiver> {
  const received = {
    url: "",
    spans: [] as ReceivedSpan[],
    bodies: [] as string[],
    status: 200,
    held: Promise.resolve(),
  };
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", async () => {
      const text = Buffer.concat(chunks).toString("utf8");
      received.bodies.push(text);
      if (received.status === 200 && request.url === "/v1/traces") received.spans.push(...spansIn(text));
      await received.held;
      response.writeHead(received.status, { "content-type": "application/json" }).end("{}");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  received.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return received;
}
