import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, expect, it } from "vitest";
import { serve, tempFolder } from "../e2e/process.ts";
import { describeInChromium } from "./chromium.ts";
import { mockModel, type Site, siteOf } from "./site.ts";
import { openPage } from "./watched-page.ts";

const JOBS = 100_000;
const root = fileURLToPath(new URL("../../", import.meta.url));

const FOUR_MODELS = {
  scheduler: { minResidencySeconds: 1, maxWaitSeconds: 20 },
  devices: { gpu0: { memoryGiB: 60 }, gpu1: { memoryGiB: 60 } },
  models: {
    chat: mockModel({ device: "gpu0" }),
    code: mockModel({ device: "gpu0" }),
    gamma: mockModel({ device: "gpu1" }),
    delta: mockModel({ device: "gpu1" }),
  },
};

/** Notes when the first sentence of a device can be read, by the page's own clock. */
const WATCH_SENTENCE = `
  new MutationObserver((_, watcher) => {
    const said = document.querySelector(".device .say strong");
    if (said === null || said.textContent === "") return;
    globalThis.saidAtMs = performance.now();
    watcher.disconnect();
  }).observe(document, { childList: true, subtree: true, characterData: true });
  globalThis.longTasks = [];
  new PerformanceObserver((list) => longTasks.push(...list.getEntries().map(({ duration }) => duration)))
    .observe({ type: "longtask" });
`;

const inPage = { saidAtMs: "globalThis.saidAtMs", longTasks: "globalThis.longTasks" };

describeInChromium(`with ${JOBS.toLocaleString("en")} jobs in the store`, (browser) => {
  let site: Site;
  beforeAll(async () => {
    const folder = tempFolder();
    mkdirSync(join(folder, "data"));
    const words = ["--import", "tsx", "bench/seed.ts", join(folder, "data", "sir.db"), String(JOBS)];
    const { status, stderr } = spawnSync(process.execPath, words, { cwd: root, encoding: "utf8" });
    if (status !== 0) throw new Error(stderr);
    site = siteOf(await serve({ config: FOUR_MODELS, folder }));
    for (let count = 0; count < 12; count += 1) await site.submit(count % 2 === 0 ? "chat" : "gamma");
  });

  it("says what the GPU does within a second, with a page that stays small", async () => {
    const said: number[] = [];
    let nodes = 0;
    for (let count = 0; count < 3; count += 1) {
      const { page } = await openPage(browser(), site.page, { before: WATCH_SENTENCE });
      await page.locator(".device .say strong").first().waitFor();
      said.push(await page.evaluate<number>(inPage.saidAtMs));
      await page.locator(".g-bar").first().waitFor({ state: "attached" });
      nodes = await page.evaluate(() => document.querySelectorAll("*").length);
    }
    console.info(`device sentence after ${said.map(Math.round).join(", ")} ms; ${nodes} nodes`);

    expect(Math.min(...said)).toBeLessThan(1000);
    expect(nodes).toBeLessThan(1500);
  });

  it("does little at each change, also on a machine four times slower", async () => {
    const { page } = await openPage(browser(), site.page, { before: WATCH_SENTENCE });
    const line = await page.context().newCDPSession(page);
    await page.locator(".g-bar").first().waitFor({ state: "attached" });
    await line.send("Emulation.setCPUThrottlingRate", { rate: 4 });
    await page.evaluate("globalThis.longTasks.length = 0");

    for (let count = 0; count < 40; count += 1) {
      await site.submit(["chat", "code", "gamma", "delta"][count % 4] ?? "chat");
      await page.waitForTimeout(50);
    }
    const tasks = (await page.evaluate<number[]>(inPage.longTasks)).sort((a, b) => b - a);
    await line.send("Emulation.setCPUThrottlingRate", { rate: 1 });
    console.info(
      `tasks over 50 ms at a quarter of the speed: ${tasks.length}, longest ${Math.round(tasks[0] ?? 0)} ms`,
    );

    // The budget is 50 ms each; a machine that other suites keep busy gets four times that.
    expect(tasks[Math.floor(tasks.length / 2)] ?? 0).toBeLessThan(200);
  });

  it("lists jobs and answers a filter at once", async () => {
    const { page, violations } = await openPage(browser(), `${site.page}#/jobs`);
    await page.locator("a[href*='job_']").first().waitFor();
    const took: number[] = [];
    for (const status of ["failed", "cancelled", "completed"]) {
      const answered = page.waitForResponse((response) => response.url().includes(`status=${status}`));
      const askedAt = performance.now();
      await page.goto(`${site.page}#/jobs?status=${status}`);
      await answered;
      await page.locator(`.s-${status}`).first().waitFor();
      took.push(performance.now() - askedAt);
    }
    console.info(`a filter's rows after ${took.map(Math.round).join(", ")} ms`);

    expect(Math.min(...took)).toBeLessThan(300);
    expect(await violations()).toEqual([]);
  });
});
