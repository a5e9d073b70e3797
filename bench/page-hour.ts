// An hour of the live stream, fed to a page in minutes: a minute of real frames is recorded, and told sixty times with its
// times moved on and its ids made anew, four frames at a time. Then the heap, after a full collection.

import type { Browser, CDPSession } from "playwright-core";
import type { Figure } from "./figure.ts";

const RECORD_MS = 60_000;
const MINUTES = 60;
/** So many frames come at once, then the page has this long; the router leaves 250 ms after each. */
const AT_ONCE = 4;
const APART_MS = 20;

/** In the page, before its own scripts: its stream is a stream that this bench fills. */
const OWN_STREAM = `
  const real = globalThis.fetch;
  let lines;
  globalThis.feed = async (frames, apartMs) => {
    for (const frame of frames) {
      lines.enqueue(new TextEncoder().encode(frame));
      await new Promise((resolve) => setTimeout(resolve, apartMs));
    }
  };
  globalThis.fetch = (url, init) => String(url).includes("v1/stream")
    ? Promise.resolve(new Response(new ReadableStream({ start: (controller) => { lines = controller; } })))
    : real(url, init);
`;

export async function heapAfterAnHour(
  browser: Browser,
  origin: string,
  recorded: () => void,
): Promise<readonly Figure[]> {
  const frames = await record(origin);
  recorded();
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  const page = await context.newPage();
  await page.addInitScript(OWN_STREAM);
  await page.goto(`${origin}/dashboard/#/`);
  await page.waitForFunction("globalThis.feed !== undefined");
  const line = await context.newCDPSession(page);
  await page.evaluate(([first]) => (globalThis as unknown as Fed).feed([first ?? ""], 0), frames.slice(0, 1));
  await page.locator(".device .say strong").first().waitFor();
  const heaps: number[] = [];
  for (let minute = 0; minute < MINUTES; minute += 1) {
    const told = inFours(frames.slice(1).map((frame) => movedOn(frame, minute)));
    await page.evaluate(([all, ms]) => (globalThis as unknown as Fed).feed(all, ms), [told, APART_MS] as const);
    if (minute % 10 === 9) heaps.push(await heapMiB(line));
  }
  await context.close();
  const [early = 0] = heaps;
  const last = heaps.at(-1) ?? 0;
  const note = `${(frames.length - 1) * MINUTES} frames, ${AT_ONCE} each ${APART_MS} ms; after each 10 minutes ${heaps.map((mib) => mib.toFixed(1)).join(", ")}`;
  return [
    { name: "heap of Now after an hour live", value: last, unit: "MiB", bar: { rule: "below", value: 60 }, note },
    { name: "grown since its tenth minute", value: last - early, unit: "MiB", bar: { rule: "below", value: 3 } },
  ];
}

function inFours(frames: readonly string[]): readonly string[] {
  const starts = frames.flatMap((_, at) => (at % AT_ONCE === 0 ? [at] : []));
  return starts.map((at) => frames.slice(at, at + AT_ONCE).join(""));
}

interface Fed {
  feed(frames: readonly string[], apartMs: number): Promise<void>;
}

/** The snapshot and a minute of deltas, each with the blank line that ends it. */
async function record(origin: string): Promise<readonly string[]> {
  const response = await fetch(`${origin}/v1/stream`, { signal: AbortSignal.timeout(RECORD_MS) });
  let text = "";
  try {
    for await (const bytes of response.body ?? []) text += new TextDecoder().decode(bytes);
  } catch {
    // The minute is over.
  }
  return text
    .split("\n\n")
    .slice(0, -1)
    .filter((block) => block.includes("data:"))
    .map((block) => `${block}\n\n`);
}

/** The same frame `minutes` later: instants moved, in seconds or in milliseconds, jobs and decisions with other ids. */
function movedOn(frame: string, minutes: number): string {
  const seconds = Date.now() / 1_000;
  return frame
    .replaceAll(/(?<=[:[,])(1\d{9}(?:\.\d+)?|1\d{12}(?:\.\d+)?)(?=[,\]}])/g, (number) => {
      const value = Number(number);
      return String(value > seconds * 10 ? value + minutes * 60_000 : value + minutes * 60);
    })
    .replaceAll(/(job|dec)_([0-9a-f]{28})[0-9a-f]{4}/g, (_, kind, rest) => `${kind}_${rest}${hex(minutes)}`);
}

const hex = (count: number): string => count.toString(16).padStart(4, "0");

async function heapMiB(line: CDPSession): Promise<number> {
  await line.send("HeapProfiler.collectGarbage");
  await line.send("Performance.enable");
  const { metrics } = await line.send("Performance.getMetrics");
  return (metrics.find(({ name }) => name === "JSHeapUsedSize")?.value ?? Number.NaN) / 1_048_576;
}
