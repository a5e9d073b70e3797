// Whether the memory of the router grows with a batch: the same lines ten times as often, up to the limits (50,000 lines,
// 200 MB), from the upload to the output file, and what is resident meanwhile.

import { openAsBlob } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { type RouterChild, startRouterChild, startScript } from "./children.ts";
import type { Bench, Figure } from "./figure.ts";
import { pause } from "./load.ts";

const SMALL_LINES = 5_000;
const LARGE_LINES = 49_900;
const LINE_BYTES = 4_200;
const SAMPLE_MS = 100;
/** The router's JavaScript has to do with this; a heap that grew with the lines would end it. */
const HEAP_MIB = 80;
/** The store's page cache (64,000 KiB) fills up with a larger database, and a little more. */
const BAR_MIB = 96;
const CHAT = "/v1/chat/completions";

interface Ran {
  readonly idleMiB: number;
  readonly peakMiB: number;
  /** By what the batch was doing. */
  readonly peaks: Readonly<Record<string, number>>;
  readonly validatedPerSecond: number;
  readonly donePerSecond: number;
}

export const batchesBench: Bench = {
  name: "batches",
  title: `Resident memory of the router with a batch of ${SMALL_LINES} and of ${LARGE_LINES} lines of ${LINE_BYTES} bytes`,
  async run({ folder, progress }) {
    const engine = await startScript("./engine-process.ts");
    const { port } = engine.first as { port: number };
    const ran: Ran[] = [];
    try {
      for (const lines of [SMALL_LINES, LARGE_LINES]) {
        progress(`${lines} lines`);
        ran.push(await batchOf(lines, join(folder, String(lines)), port));
      }
    } finally {
      await engine.kill();
    }
    return figuresOf(ran);
  },
};

async function batchOf(lines: number, folder: string, port: number): Promise<Ran> {
  const backend = { driver: "remote", baseUrl: `http://127.0.0.1:${port}/v1` };
  const router = await startRouterChild(folder, { models: { m: { concurrency: 16, backend } } }, [
    `--max-old-space-size=${HEAP_MIB}`,
  ]);
  try {
    const input = join(folder, "in.jsonl");
    await writeInput(input, lines);
    await pause(1_000);
    const idleMiB = router.residentMiB();
    const peaks: Record<string, number> = {};
    const at = { phase: "upload" };
    const sampler = setInterval(() => {
      peaks[at.phase] = Math.max(peaks[at.phase] ?? 0, router.residentMiB());
    }, SAMPLE_MS);
    const speeds = await through(router, input, lines, at);
    clearInterval(sampler);
    return { idleMiB, peaks, peakMiB: Math.max(...Object.values(peaks)), ...speeds };
  } finally {
    await router.kill();
  }
}

async function writeInput(path: string, lines: number): Promise<void> {
  const file = await open(path, "w");
  const pad = "x".repeat(LINE_BYTES - 160);
  for (let n = 0; n < lines; n += 100) {
    const page = Array.from({ length: Math.min(100, lines - n) }, (_, i) => {
      const body = { model: "m", messages: [{ role: "user", content: pad }] };
      return `${JSON.stringify({ custom_id: `r${n + i}`, method: "POST", url: CHAT, body })}\n`;
    });
    await file.write(page.join(""));
  }
  await file.close();
}

async function through({ origin }: RouterChild, input: string, lines: number, at: { phase: string }) {
  const form = new FormData();
  form.append("purpose", "batch");
  form.append("file", await openAsBlob(input), "in.jsonl");
  const file = await asked(await fetch(`${origin}/v1/files`, { method: "POST", body: form }));
  const request = { input_file_id: file["id"], endpoint: CHAT, completion_window: "24h" };
  const headers = { "content-type": "application/json" };
  const fromMs = performance.now();
  const made = await asked(
    await fetch(`${origin}/v1/batches`, { method: "POST", headers, body: JSON.stringify(request) }),
  );
  let validatedMs = 0;
  for (;;) {
    await pause(SAMPLE_MS);
    const batch = await asked(await fetch(`${origin}/v1/batches/${String(made["id"])}`));
    at.phase = phaseOf(batch);
    if (validatedMs === 0 && batch["status"] !== "validating") validatedMs = performance.now() - fromMs;
    if (batch["status"] === "completed") break;
    if (batch["status"] === "failed") throw new Error(JSON.stringify(batch["errors"]));
  }
  const doneMs = performance.now() - fromMs - validatedMs;
  return { validatedPerSecond: (lines * 1_000) / validatedMs, donePerSecond: (lines * 1_000) / doneMs };
}

/** The long middle in quarters, to see whether memory goes on growing. */
function phaseOf({ status, request_counts: counts }: Record<string, unknown>): string {
  if (status !== "in_progress") return String(status);
  const { total, completed } = counts as { total: number; completed: number };
  return `in progress, quarter ${Math.min(4, 1 + Math.floor((4 * completed) / total))}`;
}

async function asked(response: Response): Promise<Record<string, unknown>> {
  const text = await response.text();
  if (!response.ok) throw new Error(`${response.status}: ${text}`);
  return JSON.parse(text) as Record<string, unknown>;
}

function figuresOf([small, large]: readonly Ran[]): Figure[] {
  if (small === undefined || large === undefined) return [];
  const grown = ({ peakMiB, idleMiB }: Ran): number => peakMiB - idleMiB;
  return [
    { name: "idle", value: large.idleMiB, unit: "MiB" },
    { name: `${SMALL_LINES} lines: peak over idle`, value: grown(small), unit: "MiB" },
    { name: `${LARGE_LINES} lines: peak over idle`, value: grown(large), unit: "MiB" },
    {
      name: "what ten times the lines add",
      value: grown(large) - grown(small),
      unit: "MiB",
      bar: { rule: "below", value: BAR_MIB },
    },
    ...Object.entries(large.peaks).map(([phase, peakMiB]) => ({
      name: `${LARGE_LINES} lines: peak over idle while ${phase}`,
      value: peakMiB - large.idleMiB,
      unit: "MiB",
    })),
    { name: "lines validated", value: large.validatedPerSecond, unit: "/s" },
    { name: "lines done, engine that costs nothing", value: large.donePerSecond, unit: "/s" },
  ];
}
