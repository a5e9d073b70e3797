// Throughput of the body scanners, over bodies of different texture, in 64 KiB chunks as sockets give them.
// Figures are the median of several runs; the bar is 100 MB/s, so that a chunk takes less than a millisecond. CPU time, not the clock on the wall.

import { MultipartScanner } from "../src/intake/multipart.ts";
import { JsonScanner } from "../src/intake/scan.ts";
import type { Bench, Figure } from "./figure.ts";
import { median } from "./statistics.ts";

const CHUNK_BYTES = 64 * 1024;
const BODY_BYTES = 16 * 1024 * 1024;
const RUNS = 7;
const BAR_MEGABYTES_PER_SECOND = 100;

function bodyOf(item: string, open: string, close: string): Uint8Array {
  const count = Math.floor(BODY_BYTES / (item.length + 1));
  return Buffer.from(`{"model":"m","messages":${open}${Array.from({ length: count }, () => item).join(",")}${close}}`);
}

const TEXTURES: Readonly<Record<string, () => Uint8Array>> = {
  "one long string (base64 image)": () => bodyOf("A".repeat(BODY_BYTES - 100), '["', '"]'),
  "chat messages": () => bodyOf(`{"role":"user","content":"${"The quick brown fox.\\n".repeat(40)}"}`, "[", "]"),
  "numbers (embeddings)": () => bodyOf("-0.0123456789", "[", "]"),
  "short tokens": () => bodyOf("1", "[", "]"),
  "nothing but escapes": () => bodyOf(`"${"\\n".repeat(1000)}"`, "[", "]"),
  "nothing but brackets": () => bodyOf("[]", "[", "]"),
};

/** A form whose file is one block over and over. */
function formOf(block: string): Uint8Array {
  const head = '--b0undary\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\n\r\n';
  const tail = '\r\n--b0undary\r\nContent-Disposition: form-data; name="model"\r\n\r\nm\r\n--b0undary--\r\n';
  const content = Buffer.alloc(BODY_BYTES, block);
  return Buffer.concat([Buffer.from(head), content, Buffer.from(tail)]);
}

const FORMS: Readonly<Record<string, () => Uint8Array>> = {
  "form with a file (and its SHA-256)": () => formOf("RIFF, a sound file of the usual kind, with few line ends\r\n"),
  "form of almost boundaries": () => formOf("\r\n--b0undar"),
};

function chunksOf(body: Uint8Array): readonly Uint8Array[] {
  const chunks: Uint8Array[] = [];
  for (let at = 0; at < body.length; at += CHUNK_BYTES) chunks.push(body.subarray(at, at + CHUNK_BYTES));
  return chunks;
}

/** Milliseconds of CPU time for the whole body and for its slowest chunk: others may have the processor in between. */
function once(
  chunks: readonly Uint8Array[],
  scanner: JsonScanner | MultipartScanner,
): { readonly tookMs: number; readonly slowestMs: number } {
  const start = process.cpuUsage();
  let slowestMs = 0;
  for (const chunk of chunks) {
    const from = process.cpuUsage();
    scanner.feed(chunk);
    slowestMs = Math.max(slowestMs, cpuMsSince(from));
  }
  scanner.finish();
  return { tookMs: cpuMsSince(start), slowestMs };
}

function cpuMsSince(from: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(from);
  return (user + system) / 1_000;
}

interface ScanFigure {
  readonly texture: string;
  readonly megabytesPerSecond: number;
  /** Median over the runs of each run's slowest 64 KiB chunk. */
  readonly slowestChunkMs: number;
}

function measureScan(): readonly ScanFigure[] {
  return [
    ...Object.entries(TEXTURES).map(([texture, make]) => figureOf(texture, make(), () => new JsonScanner())),
    ...Object.entries(FORMS).map(([texture, make]) =>
      figureOf(texture, make(), () => new MultipartScanner("b0undary")),
    ),
  ];
}

function figureOf(texture: string, body: Uint8Array, scanner: () => JsonScanner | MultipartScanner): ScanFigure {
  const chunks = chunksOf(body);
  const runs = Array.from({ length: RUNS }, () => once(chunks, scanner()));
  return {
    texture,
    megabytesPerSecond: body.length / 1e3 / median(runs.map((run) => run.tookMs)),
    slowestChunkMs: median(runs.map((run) => run.slowestMs)),
  };
}

export const scanBench: Bench = {
  name: "scan",
  title: `Body scanners, ${BODY_BYTES / 2 ** 20} MiB in chunks of 64 KiB, median of ${RUNS} runs`,
  async run({ progress }) {
    progress("scanning");
    return measureScan().map(({ texture, megabytesPerSecond, slowestChunkMs }): Figure => {
      const note = `slowest chunk ${slowestChunkMs.toFixed(2)} ms`;
      const bar = { rule: "at least", value: BAR_MEGABYTES_PER_SECOND } as const;
      return { name: texture, value: megabytesPerSecond, unit: "MB/s", bar, note };
    });
  },
};
