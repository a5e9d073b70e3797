// Spans out of OTLP/HTTP's JSON.

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

const attributesOf = (list: readonly KeyValue[] = []): Record<string, string | number> =>
  Object.fromEntries(
    list.map(({ key, value }) => [key, value.stringValue ?? Number(value.intValue ?? value.doubleValue)]),
  );

export function spansIn(text: string): ReceivedSpan[] {
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
