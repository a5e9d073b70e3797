// What the dashboard costs its reader, in a real Chromium over a large past: first paint, the first sentence, how long
// the page is busy with what the stream brings, how large it is, and what an hour of it leaves in memory.

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import type { Browser, CDPSession, Page } from "playwright-core";
import { prepareWriter } from "../src/store/sqlite/connection.ts";
import { migrate } from "../src/store/sqlite/migrate.ts";
import { MIGRATIONS } from "../src/store/sqlite/open.ts";
import { buildPage } from "../test/browser/built-page.ts";
import { launchChromium } from "../test/browser/launch.ts";
import { type RouterChild, startRouterChild } from "./children.ts";
import type { Bench, Figure } from "./figure.ts";
import { heapAfterAnHour } from "./page-hour.ts";
import { tasksDuring } from "./page-tasks.ts";
import { seedPast } from "./seed-store.ts";
import { median, spreadOf } from "./statistics.ts";

const JOBS = Number(process.env["SIR_BENCH_JOBS"] ?? 100_000);
const OPENINGS = 7;
const SLOWER = 4;
const WATCH_SECONDS = 15;
const SUBMITS_PER_SECOND = 8;
const MODELS = ["chat", "code", "gamma", "delta"];

/** Notes by the page's own clock when the first sentence of a device stands there. */
const NOTE_SENTENCE = `
  new MutationObserver((_, watcher) => {
    if (!document.querySelector(".device .say strong")?.textContent) return;
    globalThis.saidAtMs = performance.now();
    watcher.disconnect();
  }).observe(document, { childList: true, subtree: true, characterData: true });
`;

export const pageBench: Bench = {
  name: "page",
  title: `The dashboard in Chromium, ${JOBS} jobs stored, ${SUBMITS_PER_SECOND} jobs a second coming`,
  async run({ folder, progress }) {
    progress(`storing ${JOBS} jobs`);
    buildPage();
    const router = await startRouterChild(folder, seeded(folder));
    const traffic = new Traffic(router);
    const browser = await launchChromium();
    try {
      traffic.begin();
      progress("opening");
      const opened = [...(await openings(browser, router, 1)), ...(await openings(browser, router, SLOWER))];
      progress("watching");
      const job = await traffic.submit("chat", { max_tokens: 12_000 });
      const watched: Figure[] = [];
      for (const [name, place] of [
        ["Now", ""],
        ["Jobs", "jobs"],
        ["Job", `jobs/${job}`],
      ] as const) {
        watched.push(...(await watching(browser, `${router.origin}/dashboard/#/${place}`, name)));
      }
      progress("an hour");
      return [...opened, ...watched, ...(await heapAfterAnHour(browser, router.origin, () => traffic.end()))];
    } finally {
      traffic.end();
      await browser.close();
      await router.kill();
    }
  },
};

function seeded(folder: string): object {
  mkdirSync(join(folder, "data"), { recursive: true });
  const db = new Database(join(folder, "data", "sir.db"));
  prepareWriter(db, "OFF");
  migrate(db, MIGRATIONS);
  seedPast(db, { jobs: JOBS, decisions: JOBS / 4, nowMs: Date.now(), models: MODELS, devices: ["gpu0", "gpu1"] });
  db.close();
  const backend = { driver: "mock", loadSeconds: 0.4, unloadSeconds: 0.1, firstTokenSeconds: 0.1, tokensPerSecond: 80 };
  const models = MODELS.map((name, i) => {
    return [name, { device: i < 2 ? "gpu0" : "gpu1", memoryGiB: 40, concurrency: 4, loadSeconds: 1, backend }];
  });
  return {
    scheduler: { minResidencySeconds: 1, maxWaitSeconds: 20 },
    devices: { gpu0: { memoryGiB: 60 }, gpu1: { memoryGiB: 60 } },
    models: Object.fromEntries(models),
  };
}

/** Jobs that come evenly, of one model after the other. */
class Traffic {
  readonly #router: RouterChild;
  #timer: ReturnType<typeof setInterval> | null = null;
  #count = 0;

  constructor(router: RouterChild) {
    this.#router = router;
  }

  begin(): void {
    this.#timer = setInterval(() => {
      this.#count += 1;
      void this.submit(MODELS[this.#count % MODELS.length] ?? "", { max_tokens: 8 }).catch(() => undefined);
    }, 1000 / SUBMITS_PER_SECOND);
  }

  end(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }

  /** @returns its id */
  async submit(model: string, more: object): Promise<string> {
    const response = await fetch(`${this.#router.origin}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", prefer: "respond-async, lease=3600" },
      body: JSON.stringify({ model, messages: [{ role: "user", content: "hello" }], ...more }),
    });
    return ((await response.json()) as { id: string }).id;
  }
}

interface Opened {
  readonly page: Page;
  readonly line: CDPSession;
  close(): Promise<void>;
}

async function openAt(browser: Browser, url: string, slower: number): Promise<Opened> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  context.setDefaultTimeout(120_000);
  const page = await context.newPage();
  await page.addInitScript(NOTE_SENTENCE);
  const line = await context.newCDPSession(page);
  await line.send("Emulation.setCPUThrottlingRate", { rate: slower });
  await page.goto(url);
  return { page, line, close: () => context.close() };
}

async function openings(browser: Browser, { origin }: RouterChild, slower: number): Promise<readonly Figure[]> {
  const painted: number[] = [];
  const said: number[] = [];
  let nodes = 0;
  for (let count = 0; count < OPENINGS; count += 1) {
    const { page, close } = await openAt(browser, `${origin}/dashboard/`, slower);
    await page.locator(".device .say strong").first().waitFor();
    await page.locator(".g-mark").first().waitFor({ state: "attached" });
    await page.locator(".feed li").first().waitFor();
    painted.push(await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 0));
    said.push(await page.evaluate<number>("globalThis.saidAtMs"));
    nodes = Math.max(nodes, await page.evaluate<number>(`document.querySelectorAll("*").length`));
    await close();
  }
  const at = slower === 1 ? "" : `, at 1/${slower} of the CPU`;
  const figure = (name: string, values: readonly number[], bar: number): Figure => ({
    name: `${name}${at}`,
    value: median(values),
    unit: "ms",
    bar: { rule: "below", value: bar },
    note: `${OPENINGS} openings, ${values.map(Math.round).join(", ")}`,
  });
  return [
    figure("first contentful paint", painted, slower === 1 ? 300 : 700),
    figure("first sentence of a device", said, slower === 1 ? 1_000 : 2_000),
    ...(slower === 1
      ? [{ name: "elements of Now", value: nodes, unit: "", bar: { rule: "below", value: 1_500 } as const }]
      : []),
  ];
}

async function watching(browser: Browser, url: string, name: string): Promise<readonly Figure[]> {
  const figures: Figure[] = [];
  for (const slower of [1, SLOWER]) {
    const { page, close } = await openAt(browser, url, 1);
    const line = await page.context().newCDPSession(page);
    await page.getByText("Live", { exact: true }).waitFor();
    await page.waitForTimeout(4_000);
    await line.send("Emulation.setCPUThrottlingRate", { rate: slower });
    const tasks = await tasksDuring(browser, page, () => page.waitForTimeout(WATCH_SECONDS * 1_000));
    await close();
    // Of the page at full speed the processor's time counts, four times: that does not know how busy the machine is.
    const ms = slower === 1 ? tasks.map(({ cpuMs }) => cpuMs * SLOWER) : tasks.map(({ tookMs }) => tookMs);
    const { p50, p99, max } = spreadOf(ms.filter((each) => each >= 4));
    const over = ms.filter((each) => each >= 50).length;
    figures.push({
      name: `${name}: longest task, ${slower === 1 ? `CPU time x ${SLOWER}` : `wall at 1/${SLOWER} of the CPU`}`,
      value: max,
      unit: "ms",
      ...(slower === 1 ? { bar: { rule: "below" as const, value: 50 } } : {}),
      note: `in ${WATCH_SECONDS} s; of those over 4 ms p50 ${p50.toFixed(0)}, p99 ${p99.toFixed(0)}; ${over} over 50`,
    });
  }
  return figures;
}
