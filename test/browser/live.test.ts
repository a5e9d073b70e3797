import { expect, it, onTestFinished } from "vitest";
import { eventually } from "../e2e/process.ts";
import { describeInChromium } from "./chromium.ts";
import { mockModel, startSite, TWO_MODELS } from "./site.ts";
import { openPage } from "./watched-page.ts";

/** Sum of the numbers in the bars of what waits. */
const BARS =
  "[...document.querySelectorAll('.stack > span')].reduce((sum, bar) => sum + Number.parseInt(bar.textContent.replace(/\\D+/g, '')), 0)";

/** Keeps every sentence of the device, those that stand for a moment too. */
const HEAR_SENTENCES = `
  globalThis.heard = [];
  new MutationObserver(() => {
    const said = document.querySelector(".device .say")?.textContent ?? "";
    if (said !== heard.at(-1)) heard.push(said);
  }).observe(document, { childList: true, subtree: true, characterData: true });
`;

/** Of six hours, which are drawn 1,100 pixels wide. */
const PIXEL_MS = (6 * 3_600_000) / 1_100;

/** Counts how often the chart of the queue and the one of the devices are drawn. */
const COUNT_DRAWING = `
  globalThis.drawn = { chart: 0, gantt: 0 };
  const clear = CanvasRenderingContext2D.prototype.clearRect;
  CanvasRenderingContext2D.prototype.clearRect = function (...box) {
    drawn.chart += 1;
    return clear.apply(this, box);
  };
  new MutationObserver((records) => {
    if (records.some(({ target }) => (target.parentElement ?? target).closest?.(".gantt"))) drawn.gantt += 1;
  }).observe(document, { childList: true, subtree: true, characterData: true, attributes: true });
`;

/** Makes the page believe that its tab is in the background, or in front again. */
const show = (hidden: boolean): string =>
  `Object.defineProperty(document, "hidden", { configurable: true, get: () => ${hidden} });
   document.dispatchEvent(new Event("visibilitychange"));`;

describeInChromium("the live page", (browser) => {
  it("follows twenty jobs of two models without a reload, and its bars are the router's numbers", async () => {
    const site = await startSite();
    const { page, complaints, shot } = await openPage(browser(), site.page, { before: HEAR_SENTENCES });
    await page.getByText("Live", { exact: true }).waitFor();
    await site.post("/admin/pause", { note: "a test" });
    await page.locator(".device .say").getByText("a test").waitFor();

    for (let count = 0; count < 20; count += 1) {
      await site.submit(
        count % 2 === 0 ? "chat" : "code",
        {},
        { "sir-priority": count % 4 === 0 ? "batch" : "normal" },
      );
    }
    const { queued } = await site.status();
    expect(queued).toBe(20);
    await expect.poll(() => page.evaluate(BARS)).toBe(queued);

    await site.post("/admin/resume");
    await expect
      .poll(() => page.evaluate<string[]>("globalThis.heard"))
      .toContainEqual(expect.stringMatching(/^Loading/));
    await page.locator(".g-mark").first().waitFor({ state: "attached" });
    await eventually(async () => expect((await site.status()).queued).toBe(0), 60_000);
    await page.getByText("Nothing waits.").waitFor();
    await page.locator(".g-serving").nth(1).waitFor({ state: "attached" });
    await shot("after-twenty-jobs");

    await expect.poll(() => page.locator(".feed li").count()).toBeGreaterThan(1);
    expect(complaints).toEqual([]);
  });

  it("carries out load, pin and unload, shows the decision, and lets what runs finish", async () => {
    const site = await startSite({
      ...TWO_MODELS,
      models: {
        "org/slow/chat-8b": mockModel({ label: "chat", tokensPerSecond: 3 }),
        "org/code-30b": mockModel({ label: "code" }),
      },
    });
    const { page, shot } = await openPage(browser(), `${site.page}#/models`);
    const card = page.getByRole("listitem").filter({ has: page.getByRole("heading", { name: "chat", exact: true }) });

    await card.getByRole("button", { name: "Load chat", exact: true }).click();
    await card.getByText("Loaded, idle").waitFor();
    await card.getByRole("button", { name: "Pin chat" }).click();
    await card.getByText("pinned").waitFor();
    // Long enough to be running still when the question is answered, also on a busy machine.
    const job = await site.submit("chat", { max_tokens: 45 });
    await card.getByText("Serving").waitFor();
    await card.getByRole("button", { name: "Unload chat" }).click();
    const question = page.getByRole("dialog", { name: "Unload chat?" });
    await question.waitFor();
    await shot("unload-question");
    await question.getByRole("button", { name: "Unload" }).click();

    await card.getByText("Letting jobs finish").waitFor();
    await card.getByText("Not loaded").waitFor();
    expect((await site.job(job.id)).status).toBe("completed");
    await page.goto(`${site.page}#/`);
    await page.locator(".feed").getByText("An operator").first().waitFor();
    await page.locator(".g-draining").first().waitFor({ state: "attached" });
  });

  it("pauses a device with a word for whoever wonders, by keyboard alone, and lets it go on", async () => {
    const site = await startSite();
    const { page } = await openPage(browser(), `${site.page}#/models`);
    await page.getByRole("button", { name: "Pause gpu0" }).focus();

    await page.keyboard.press("Enter");
    await page.keyboard.type("a new fan");
    await page.keyboard.press("Enter");
    await page.getByText("a new fan").waitFor();
    expect((await site.status()).devices.map(({ pause }) => pause?.note)).toEqual(["a new fan"]);
    await page.getByRole("button", { name: "Resume gpu0" }).press("Enter");

    await page.getByRole("button", { name: "Pause gpu0" }).waitFor();
    await expect.poll(async () => (await site.status()).devices.map(({ paused }) => paused)).toEqual([false]);
  });

  it("holds still when it is paused: no stream, and nothing fetched when the reader comes back to it", async () => {
    const site = await startSite();
    const { page, asked } = await openPage(browser(), "about:blank");
    await page.clock.install();
    const read = ["/v1/timeline", "/v1/series", "/v1/decisions"].map((path) =>
      page.waitForResponse((response) => response.url().includes(path)),
    );
    // With a range that was asked for nothing is read twice because the first answer shows what fits.
    await page.goto(`${site.page}#/?range=5m`);
    await Promise.all(read);
    await page.getByText("Live", { exact: true }).waitFor();

    await page.keyboard.press("p");
    await page.getByRole("button", { name: "Paused" }).waitFor();
    const before = asked.length;
    const { id } = await site.submit("chat");
    await page.evaluate(show(true));
    await page.evaluate(show(false));
    await page.evaluate(() => window.dispatchEvent(new Event("focus")));
    await eventually(async () => expect((await site.job(id)).status).toBe("completed"), 60_000);
    // All that waits for its time has its turn: looks that come second, pauses between tries.
    await page.clock.runFor(60_000);
    expect(asked.slice(before)).toEqual([]);

    await page.keyboard.press("p");
    await page.getByText("Done in the last hour").waitFor();
  });

  it("sleeps fifteen seconds after its tab was hidden, and wakes with one snapshot", async () => {
    const site = await startSite();
    const opened = await openPage(browser(), "about:blank");
    const { page, asked } = opened;
    await page.clock.install();
    await page.goto(site.page);
    await page.getByText("Live", { exact: true }).waitFor();
    // From here on time passes only when it is told to.
    await page.clock.pauseAt((await page.evaluate(() => Date.now())) + 10_000);
    const streams = (): number => asked.filter((url) => url.endsWith("/v1/stream")).length;
    const ended = page.waitForEvent("requestfailed", (request) => request.url().endsWith("/v1/stream"));

    await page.evaluate(show(true));
    await page.clock.fastForward(14_000);
    expect(await page.getByText("Asleep").count()).toBe(0);
    await page.clock.fastForward(2_000);
    await page.getByText("Asleep").waitFor();
    await ended;
    await page.clock.fastForward(600_000);
    expect(streams()).toBe(1);

    await page.clock.resume();
    await page.evaluate(show(false));
    await page.getByText("Live", { exact: true }).waitFor();
    expect(streams()).toBe(2);
  });

  it("lets an eighth tab load on HTTP/1.1, because tabs in the background hold no stream", async () => {
    const site = await startSite();
    const context = await browser().newContext();
    onTestFinished(() => context.close());
    context.setDefaultTimeout(60_000);
    const hidden = `Object.defineProperty(document, "hidden", { configurable: true, get: () => true });`;
    for (let count = 0; count < 7; count += 1) {
      const tab = await context.newPage();
      await tab.addInitScript(hidden);
      await tab.goto(site.page);
      await tab.getByText("Asleep").waitFor();
    }

    const eighth = await context.newPage();
    await eighth.goto(site.page);
    await eighth.getByText("Live", { exact: true }).waitFor();
  });

  it("draws its charts when time moves them, not with every change of a queue", async () => {
    const site = await startSite();
    await site.post("/admin/pause", {});
    await site.submit("chat");
    const { page } = await openPage(browser(), `${site.page}#/?range=6h`, { before: COUNT_DRAWING });
    await expect.poll(() => page.evaluate(BARS)).toBe(1);
    await page.locator(".gantt svg").waitFor({ state: "attached" });
    // What is read a second time, to be sure, is read.
    await page.waitForTimeout(4_000);
    await page.evaluate("globalThis.drawn = { chart: 0, gantt: 0 }");
    const fromMs = (await site.status()).at * 1_000;

    for (let waiting = 2; waiting <= 9; waiting += 1) {
      await site.submit(waiting % 2 === 0 ? "chat" : "code");
      await expect.poll(() => page.evaluate(BARS)).toBe(waiting);
    }

    const drawn = await page.evaluate<{ chart: number; gantt: number }>("globalThis.drawn");
    // One more for the beginning, one for what a busy machine reads late.
    const steps = 2 + Math.ceil(((await site.status()).at * 1_000 - fromMs) / PIXEL_MS);
    expect(drawn.chart).toBeLessThanOrEqual(steps);
    expect(drawn.gantt).toBeLessThanOrEqual(steps);
  });

  it("keeps the focus where it is while the page changes under it", async () => {
    const site = await startSite();
    await site.submit("chat");
    const { page } = await openPage(browser(), site.page);
    await page.locator(".g-mark").first().waitFor({ state: "attached" });
    await page.locator('.g-mark[tabindex="0"]').focus();
    const focused = (): Promise<string | null> =>
      page.evaluate(() => document.activeElement?.getAttribute("data-mark") ?? null);
    const mark = await focused();
    expect(mark).not.toBeNull();

    for (let count = 0; count < 12; count += 1) {
      await site.submit(count % 2 === 0 ? "chat" : "code");
      await page.waitForTimeout(250);
      expect(await focused()).toBe(mark);
    }
  });
});
