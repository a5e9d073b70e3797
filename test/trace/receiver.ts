// An OTLP/HTTP receiver: takes JSON as a collector would, and tells what came.

import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

interface KeyValue {
  readonly key: string;
  readonly value: { readonly stringValue?: string; readonly intValue?: number | string; readonly doubleValue?: number };
}

export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: Readonly<Record<string, string | number>>;
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly events: readonly { readonly name: string }[];
  readonly status: { readonly code?: number };
  readonly service: string;
}

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

const attributesOf = (list: readonly KeyValue[] = []): Record<string, string | number> =>
  Object.fromEntries(
    list.map(({ key, value }) => [key, value.stringValue ?? Number(value.intValue ?? value.doubleValue)]),
  );

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

function spansIn(text: string): ReceivedSpan[] {
  const { resourceSpans } = JSON.parse(text) as {
    resourceSpans: readonly {
      readonly resource: { readonly attributes: readonly KeyValue[] };
      readonly scopeSpans: readonly { readonly spans: readonly (Omit<ReceivedSpan, "attributes"> & Raw)[] }[];
    }[];
  };
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) =>
      spans.map((span) => ({
        ...span,
        links: span.links ?? [],
        events: span.events ?? [],
        attributes: attributesOf(span.attributes),
        service: String(attributesOf(resource.attributes)["service.name"]),
      })),
    ),
  );
}

interface Raw {
  readonly attributes: readonly KeyValue[];
}
