import { describe, expect, it } from "vitest";
import { parseBlock, readEvents } from "../../dashboard/src/live/sse.ts";
import { replaced } from "../../dashboard/src/live/state.ts";
import { withDelta } from "../../dashboard/src/live/timeline-merge.ts";
import type { DeltaWire, MoveWire, SpanRow, TimelineWire } from "../../src/client/wire-live.ts";
import type { DeviceStatusWire, PauseWire } from "../../src/client/wire-status.ts";

const timeline = (spans: SpanRow[], moves: MoveWire[] = []): TimelineWire => ({
  object: "timeline",
  from_ms: 0,
  to_ms: 1000,
  spans,
  moves,
  pauses: [],
  downtimes: [],
});

const news = (more: Partial<DeltaWire>): DeltaWire => ({
  ...{ seq: 1, at: 1, devices: [], models: [], jobs: [], more: 0, spans: [], moves: [], decisions: [] },
  status: { pause: null } as DeltaWire["status"],
  ...more,
});

const row = (phase: SpanRow[2], fromMs: number, toMs: number | null, model = "a"): SpanRow => [
  "gpu0",
  model,
  phase,
  fromMs,
  toMs,
  null,
];

const move = (id: string): MoveWire => ({
  id,
  device: "gpu0",
  at_ms: 1,
  kind: "load",
  reason: "cold",
  forced: false,
  load: "a",
  evict: [],
  sentence: "Loaded a.",
});

function bytes(...chunks: string[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(new TextEncoder().encode(chunk));
      controller.close();
    },
  });
}

async function allOf<T>(source: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const each of source) all.push(each);
  return all;
}

describe("the stream's events", () => {
  it("are put together from whatever pieces the line brings, also inside a letter", async () => {
    const whole = new TextEncoder().encode('event: delta\ndata: {"name":"é"}\n\n');
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const byte of whole) controller.enqueue(Uint8Array.of(byte));
        controller.close();
      },
    });

    const events = await allOf(readEvents(body, () => undefined));

    expect(events).toEqual([{ event: "delta", data: '{"name":"é"}', id: null, retryMs: null }]);
  });

  it("are not made of comments, which only show that the line lives", async () => {
    let heard = 0;

    const events = await allOf(
      readEvents(bytes(": ping\n\n", "id: b.7\ndata: 1\n\n"), () => {
        heard += 1;
      }),
    );

    expect(events.map(({ id, data }) => [id, data])).toEqual([["b.7", "1"]]);
    expect(heard).toBe(2);
  });

  it("keep their retry, and data of several lines", () => {
    expect(parseBlock("event: bye\nretry: 2000\ndata: {}")).toEqual({
      event: "bye",
      data: "{}",
      id: null,
      retryMs: 2000,
    });
    expect(parseBlock("data: a\ndata: b")?.data).toBe("a\nb");
    expect(parseBlock(": nothing")).toBeNull();
  });
});

describe("entries of the status", () => {
  it("stay the same objects where nothing changed, in their order", () => {
    const [a, b] = [{ id: "a" }, { id: "b" }];
    const newer = { id: "a", state: "loading" };

    const next = replaced([a, b], [newer, { id: "c" }]);

    expect(next).toEqual([newer, b, { id: "c" }]);
    expect(next[1]).toBe(b);
    expect(replaced(next, [])).toBe(next);
  });
});

describe("a timeline that the stream keeps true", () => {
  it("ends what went on when the model does something else", () => {
    const before = timeline([row("loading", 100, null), row("serving", 50, null, "b")]);

    const after = withDelta(before, news({ spans: [row("idle", 400, null)], moves: [] }));

    expect(after.spans).toEqual([row("loading", 100, 400), row("serving", 50, null, "b"), row("idle", 400, null)]);
  });

  it("has a row once that was told twice, and none without length", () => {
    const before = timeline([row("loading", 100, null)]);

    const ended = withDelta(before, news({ spans: [row("loading", 100, 300)], moves: [] }));
    const nothing = withDelta(before, news({ spans: [row("loading", 100, 100)], moves: [] }));

    expect(ended.spans).toEqual([row("loading", 100, 300)]);
    expect(nothing.spans).toEqual([]);
  });

  it("has a device's pause and the router's from when they began to when they ended", () => {
    const words = { who: "oda", note: "a new fan" };
    const own: PauseWire = { scope: "device", subject: "gpu0", ...words, since: 2 };
    const whole: PauseWire = { scope: "router", subject: null, ...words, since: 3 };
    const device = (pause: PauseWire | null): DeviceStatusWire[] => [{ id: "gpu0", pause } as DeviceStatusWire];
    const paused = { pause: whole } as DeltaWire["status"];

    const one = withDelta(timeline([]), news({ at: 2.2, devices: device(own) }));
    const two = withDelta(one, news({ at: 3.1, status: paused, devices: device(whole) }));
    const three = withDelta(two, news({ at: 4, devices: device(own) }));
    const over = withDelta(three, news({ at: 5, devices: device(null) }));

    expect(one.pauses).toEqual([[2_000, null, "gpu0", "oda", "a new fan"]]);
    expect(two.pauses.map(([from, to, of]) => [from, to, of])).toEqual([
      [2_000, null, "gpu0"],
      [3_000, null, null],
    ]);
    expect(withDelta(two, news({ at: 3.5, status: paused }))).toBe(two);
    expect(over.pauses.map(([from, to, of]) => [from, to, of])).toEqual([
      [2_000, 5_000, "gpu0"],
      [3_000, 4_000, null],
    ]);
  });

  it("has a decision once, and is the same object when nothing is said of it", () => {
    const before = timeline([], [move("dec_1")]);

    expect(withDelta(before, news({ spans: [], moves: [move("dec_1"), move("dec_2")] })).moves).toHaveLength(2);
    expect(withDelta(before, news({ spans: [], moves: [] }))).toBe(before);
  });
});
