// Generators of job streams: the regular ones draw nothing, the random ones draw from a seed.

import type { Seeded } from "./seeded.ts";
import type { Arrival } from "./workload.ts";

export interface Stream {
  readonly model: string;
  readonly priority?: number;
  readonly tokens?: number;
}

const DEFAULT_TOKENS = 64;

/** `count` jobs, one each `everyMs`, the first at `fromMs`. */
export function every(stream: Stream, everyMs: number, count: number, fromMs = 0): Arrival[] {
  return Array.from({ length: count }, (_, i) => arrival(stream, fromMs + i * everyMs));
}

/** A, B, C, A, B, C …: one each `everyMs`. */
export function alternating(streams: readonly Stream[], everyMs: number, count: number, fromMs = 0): Arrival[] {
  return Array.from({ length: count }, (_, i) => arrival(turn(streams, i), fromMs + i * everyMs));
}

/** Bursts of `size` jobs `gapMs` apart, a burst each `everyMs`, the models taking turns burst by burst. */
export function bursts(
  streams: readonly Stream[],
  shape: { readonly count: number; readonly size: number; readonly gapMs: number; readonly everyMs: number },
): Arrival[] {
  return Array.from({ length: shape.count }, (_, i) =>
    every(turn(streams, i), shape.gapMs, shape.size, i * shape.everyMs),
  ).flat();
}

/** One job for each name, all at one instant, in the order of the names: `together(["A", "A", "B"])`. */
export function together(models: readonly string[], atMs = 0, tokens = DEFAULT_TOKENS): Arrival[] {
  return models.map((model) => arrival({ model, tokens }, atMs));
}

/** A Poisson process of `perHour` jobs over [fromMs, toMs). */
export function poisson(seeded: Seeded, stream: Stream, perHour: number, fromMs: number, toMs: number): Arrival[] {
  const found: Arrival[] = [];
  const gapMs = 3_600_000 / perHour;
  for (let atMs = fromMs + seeded.exponential(gapMs); atMs < toMs; atMs += seeded.exponential(gapMs)) {
    found.push(arrival(stream, atMs));
  }
  return found;
}

function arrival(stream: Stream, atMs: number): Arrival {
  return { atMs, model: stream.model, priority: stream.priority ?? 0, tokens: stream.tokens ?? DEFAULT_TOKENS };
}

function turn(streams: readonly Stream[], index: number): Stream {
  const found = streams[index % streams.length];
  if (found === undefined) throw new RangeError("at least one stream is needed");
  return found;
}
