// The budgets of watching, held: what reads of pages take, what fifty dashboards cost calls, and what a reader that takes
// nothing holds, on a store with 100,000 jobs. Exit code 1 when one is missed; the last line is `N passed, N failed`.
//
//   npm run test:budgets [-- --jobs 1000000] [--json] [--folder .tmp]

import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { CALLS_PER_SECOND, DASHBOARDS, type Round, watchedRounds } from "./dashboards.ts";
import { type Figure, isMet, lineOf } from "./figure.ts";
import { metric, openLoop } from "./load.ts";
import { describeMachine } from "./machine.ts";
import { slowness } from "./slowness.ts";
import { median, type Spread, spreadOf } from "./statistics.ts";
import { callOf, openScene, PAGES, type Scene, WIDE } from "./watched-router.ts";

/** What another process did to one try it does not do to all of them; what the router does, it does each time. */
const TRIES = 5;
/** Of a p99 on a machine that others use, beyond its budget. */
const ALLOWED = 1.5;
const READS = 200;
const ROUNDS = 7;
const STALLED = 10;
/** Sockets themselves take some MB before a reader lags. */
const STALL_SECONDS = 120;
const HELD_MIB = 1;

type Measure = (scene: Scene) => Promise<readonly Figure[]>;

/** CPU time of the router's first thread, where that is known: what it takes when nobody else wants the processor. */
function readsOf({ name, path, belowMs }: (typeof PAGES)[number]): Measure {
  return async ({ client, router }) => {
    const slow = await slowness();
    const cpuMs: number[] = [];
    const tookMs: number[] = [];
    for (let n = -READS / 4; n < READS; n++) {
      const fromMs = router.mainThreadMs();
      const { endMs } = await client.timed({ method: "GET", path: path() });
      const toMs = router.mainThreadMs();
      if (n < 0) continue;
      tookMs.push(endMs);
      cpuMs.push(fromMs === null || toMs === null ? endMs : toMs - fromMs);
    }
    const [cpu, wall] = [spreadOf(cpuMs), spreadOf(tookMs)];
    const told = ({ p50, p99 }: Spread): string => `p50 ${p50.toFixed(2)}, p99 ${p99.toFixed(2)} ms`;
    const note = `machine ${slow.toFixed(2)}x as slow as usual; CPU ${told(cpu)}; by the clock ${told(wall)}`;
    // Both bound what a reader waits on a quiet machine.
    const least = (key: "p50" | "p99"): number => Math.min(cpu[key], wall[key]) / slow;
    const below = belowMs ?? 0;
    return [
      { name: `${name}, p50`, value: least("p50"), unit: "ms", bar: { rule: "below", value: below } },
      { name: `${name}, p99`, value: least("p99"), unit: "ms", bar: { rule: "below", value: ALLOWED * below }, note },
    ];
  };
}

/** From the request to the first frame, which has a sentence for each device. */
const firstSentence: Measure = async ({ router }) => {
  const fromMs = performance.now();
  const ended = new AbortController();
  const response = await fetch(`${router.origin}/v1/stream`, { signal: ended.signal });
  let text = "";
  for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += chunk;
    if (/"summary":\{"text":"[^"]+"/.test(text)) break;
  }
  const value = performance.now() - fromMs;
  ended.abort();
  return [{ name: "a device's sentence, on the stream", value, unit: "ms", bar: { rule: "below", value: 1_000 } }];
};

/** Each try adds to the rounds of those before: the more, the less a neighbour's noise moves their median. */
const fiftyRounds: Round[] = [];

const fiftyOpen: Measure = async (scene) => {
  fiftyRounds.push(...(await watchedRounds(scene, ROUNDS, 1)));
  const rounds = fiftyRounds;
  const ratios = rounds.map(({ none, many }) => many.p50 / none.p50);
  const shares = rounds.map(({ none, many }) => many.cpuShare - none.cpuShare);
  const note = `${rounds.length} rounds from ${Math.min(...ratios).toFixed(3)}x to ${Math.max(...ratios).toFixed(3)}x`;
  return [
    {
      ...{ name: `a call while ${DASHBOARDS} dashboards are open over one with none, p50`, value: median(ratios) },
      ...{ unit: "x", bar: { rule: "below", value: 1.05 }, note },
    },
    {
      // A query for each tab hides from medians of calls, and not from this.
      ...{ name: `CPU for ${DASHBOARDS} dashboards, of one core`, value: 100 * median(shares), unit: "%" },
      bar: { rule: "below", value: 15 },
    },
  ];
};

/** Every model changes in every frame, so that frames are large, until readers that take nothing lag. */
const stalled: Measure = async ({ client, readers, port, progress }) => {
  let next = 0;
  const call = () => client.timed(callOf(WIDE[next++ % WIDE.length] ?? "m"));
  await readers.ask({ port, open: STALLED, stall: true });
  const withheldBefore = await metric(client, "sir_stream_withheld_total");
  let heldBytes = 0;
  let withheld = 0;
  for (
    let seconds = 0;
    seconds < STALL_SECONDS && withheld < 10 * STALLED && heldBytes < 2 * HELD_MIB * 2 ** 20;
    seconds += 4
  ) {
    await openLoop(CALLS_PER_SECOND, 4, call);
    heldBytes = Math.max(heldBytes, (await metric(client, "sir_stream_untaken_bytes")) / STALLED);
    withheld = (await metric(client, "sir_stream_withheld_total")) - withheldBefore;
    progress(
      `${STALLED} readers that take nothing: ${Math.round(heldBytes / 1024)} KiB each, ${withheld} frames withheld`,
    );
  }
  await readers.ask({ port, open: 0 });
  return [
    {
      ...{ name: "held for a reader that takes nothing", value: heldBytes / 2 ** 20, unit: "MiB" },
      bar: { rule: "below", value: HELD_MIB },
    },
    { name: "frames withheld from them", value: withheld, unit: "", bar: { rule: "at least", value: STALLED } },
  ];
};

interface Check {
  readonly name: string;
  readonly measure: Measure;
  readonly tries?: number;
}

const CHECKS: readonly Check[] = [
  { name: "first sentence", measure: firstSentence },
  ...PAGES.filter(({ belowMs }) => belowMs !== undefined).map((page) => ({ name: page.name, measure: readsOf(page) })),
  { name: "fifty dashboards", measure: fiftyOpen, tries: 8 },
  { name: "stalled readers", measure: stalled },
];

interface Held {
  readonly name: string;
  readonly figures: readonly Figure[];
  readonly tries: number;
  readonly held: boolean;
  readonly error: string | null;
}

/** The first try that meets every bar, else the last one. */
async function hold(scene: Scene, { name, measure, tries: most = TRIES }: Check): Promise<Held> {
  let figures: readonly Figure[] = [];
  for (let tries = 1; ; tries++) {
    scene.progress(`${name}, try ${tries}`);
    try {
      figures = await measure(scene);
    } catch (error) {
      return { name, figures: [], tries, held: false, error: error instanceof Error ? error.message : String(error) };
    }
    const held = figures.every(isMet);
    if (held || tries === most) return { name, figures, tries, held, error: null };
  }
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      jobs: { type: "string", default: "100000" },
      json: { type: "boolean", default: false },
      folder: { type: "string", default: ".tmp" },
    },
  });
  const jobs = Number(values.jobs);
  if (!Number.isSafeInteger(jobs) || jobs < 1_000) throw new Error("--jobs wants a whole number of at least 1000.");
  mkdirSync(values.folder, { recursive: true });
  const folder = mkdtempSync(join(resolve(values.folder), "budgets-"));
  const machine = describeMachine(folder);
  const say = values.json ? (): void => undefined : (line: string): void => console.log(line);
  say(`sir budgets   ${machine.date} UTC   commit ${machine.commit}   ${jobs} jobs`);
  say(`${machine.processor}, ${machine.fileSystem}, node ${machine.node}, load average ${machine.loadAverage}`);
  const results: Held[] = [];
  try {
    const progress = (text: string): void => void process.stderr.write(`budgets: ${text}\n`);
    const scene = await openScene({ folder, progress }, jobs);
    try {
      for (const check of CHECKS) {
        const result = await hold(scene, check);
        results.push(result);
        for (const figure of result.figures)
          say(`${lineOf(figure)}${result.tries > 1 ? `   try ${result.tries}` : ""}`);
        if (result.error !== null) say(`  ${result.name}: FAILED, ${result.error}`);
      }
    } finally {
      await scene.close();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  const failed = results.filter(({ held }) => !held).length;
  const passed = results.length - failed;
  if (values.json) console.log(JSON.stringify({ machine, jobs, budgets: results, passed, failed }, null, 2));
  else say(`${passed} passed, ${failed} failed`);
  return failed === 0 ? 0 : 1;
}

await main().then(
  (status) => process.exit(status),
  (error: unknown) => {
    console.error(error instanceof Error ? (error.stack ?? error.message) : error);
    process.exit(2);
  },
);
