import type { Page } from "playwright-core";
import { beforeAll, expect, it } from "vitest";
import { serve, tempFolder } from "../e2e/process.ts";
import { describeInChromium } from "./chromium.ts";
import { mockModel, type Site, siteOf, startSite, TWO_MODELS } from "./site.ts";
import { type OpenOptions, openPage, type WatchedPage } from "./watched-page.ts";

const HOUR_AHEAD = `{
  const own = Date.now, Own = Date;
  globalThis.Date = class extends Own { constructor(...given) { given.length === 0 ? super(own() + 3600000) : super(...given); } static now() { return own() + 3600000; } };
}`;

const NAMES = {
  "</script><img src=x onerror=alert(1)>": mockModel(),
  "org/with/slashes?and=questions&more#hash": mockModel(),
  "مودل-عربي-للمحادثة": mockModel(),
  "🦙-llama-👩‍👩‍👧": mockModel(),
  [`long-${"name-".repeat(38)}end`]: mockModel(),
};

describeInChromium("whatever surrounds the page", (browser) => {
  let site: Site;
  beforeAll(async () => {
    site = await startSite();
    for (let count = 0; count < 6; count += 1) await site.submit(count % 2 === 0 ? "chat" : "code");
  });

  it("its times are the router's, also where the browser's clock and zone are wrong by hours", async () => {
    const berlin = siteOf(
      await serve({ config: TWO_MODELS, folder: tempFolder(), environment: { TZ: "Europe/Berlin" } }),
    );
    await berlin.post("/admin/pause", {});
    await berlin.submit("chat");
    const { page } = await openPage(browser(), berlin.page, {
      context: { timezoneId: "America/New_York" },
      before: HOUR_AHEAD,
    });
    await page.getByText("Live", { exact: true }).waitFor();

    await page
      .locator(".live small")
      .getByText(/^\d\d:\d\d:\d\d Europe\/Berlin$/)
      .waitFor();
    await expect.poll(() => secondsBehind(berlin, page)).toBeLessThan(5);
    await page
      .locator(".queue tbody .num")
      .first()
      .getByText(/^\d+(\.\d)?\u00a0(s|m)$/)
      .waitFor();
    expect(await page.locator("main").textContent()).not.toMatch(/[\u2212-]\d+(\.\d)?\u00a0[smh]\b/);
  });

  it("names of every kind are text, and their links and acts work", async () => {
    const odd = await startSite({ devices: { gpu0: { memoryGiB: 900 } }, models: NAMES });
    for (const name of Object.keys(NAMES)) await odd.submit(name);
    const opened = await openPage(browser(), `${odd.page}#/models`);
    const { page } = opened;
    let dialogs = 0;
    page.on("dialog", (dialog) => {
      dialogs += 1;
      void dialog.dismiss();
    });
    for (const name of Object.keys(NAMES)) await page.getByTitle(name, { exact: true }).first().waitFor();
    await page.getByRole("button", { name: "Pin org/with/slashes?and=questions&more#hash" }).click();
    await page.getByText("pinned", { exact: true }).waitFor();
    expect((await odd.status()).models.filter(({ pinned }) => pinned).map(({ id }) => id)).toEqual([
      "org/with/slashes?and=questions&more#hash",
    ]);
    expect(await opened.sideways()).toBe(0);
    await opened.shot("odd-names-models");
    for (const width of [1440, 390]) {
      await page.setViewportSize({ width, height: 900 });
      await page.goto(`${odd.page}#/`);
      await page.locator(".g-model").first().waitFor({ state: "attached" });
      expect(await opened.sideways()).toBe(0);
      await opened.shot(`odd-names-now-${width}`);
    }

    expect(dialogs).toBe(0);
    expect(opened.complaints).toEqual([]);
  });

  const views: [string, OpenOptions, ((opened: WatchedPage) => Promise<unknown>)?][] = [
    ["zoom-200", { context: { viewport: { width: 720, height: 450 }, deviceScaleFactor: 2 } }],
    ["320-px", { context: { viewport: { width: 320, height: 640 } } }],
    ["forced-colors", { context: { forcedColors: "active" } }],
    ["forced-colors-dark", { context: { forcedColors: "active", colorScheme: "dark" }, theme: "dark" }],
    ["reduced-motion", { context: { reducedMotion: "reduce" } }],
    ["print", {}, ({ page }) => page.emulateMedia({ media: "print" })],
  ];

  it.each(views)("stays readable: %s", async (name, options, then) => {
    for (const place of ["", "models"]) {
      const opened = await openPage(browser(), `${site.page}#/${place}`, options);
      await then?.(opened);
      await opened.page.getByText("gpu0").first().waitFor();
      await opened.settled();
      await opened.shot(`${name}-${place === "" ? "now" : place}`);

      expect(await opened.violations()).toEqual([]);
      expect(await opened.sideways()).toBe(0);
      if (name === "reduced-motion") expect(await moving(opened)).toBe(0);
      if (name === "print") await opened.page.getByRole("navigation").waitFor({ state: "hidden" });
    }
  });

  it("works below another path and behind a proxy that takes it away", async () => {
    const { createServer, request } = await import("node:http");
    const proxy = createServer((incoming, outgoing) => {
      const path = (incoming.url ?? "").replace(/^\/gpu\/box/, "");
      const onward = request(`${site.router.origin}${path}`, { method: incoming.method, headers: incoming.headers });
      onward.on("response", (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(outgoing);
      });
      onward.on("error", () => outgoing.destroy());
      incoming.pipe(onward);
    });
    await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
    const address = proxy.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;

    const { page, complaints } = await openPage(browser(), `http://127.0.0.1:${port}/gpu/box/dashboard`);
    await page.getByText("Live", { exact: true }).waitFor();

    expect(page.url()).toContain("/gpu/box/dashboard/");
    expect(complaints).toEqual([]);
    await page.context().close();
    proxy.closeAllConnections();
    await new Promise((resolve) => proxy.close(resolve));
  });

  it("a reader on a line of two kilobytes a second holds up nobody, and has the truth when the line is good again", async () => {
    const one = await startSite();
    const { page: slow } = await openPage(browser(), one.page);
    const { page: quick } = await openPage(browser(), one.page);
    for (const page of [slow, quick]) await page.getByText("Live", { exact: true }).waitFor();
    const line = await slow.context().newCDPSession(slow);
    const speed = (throughput: number): Promise<unknown> =>
      line.send("Network.emulateNetworkConditions", {
        ...{ offline: false, latency: 0, downloadThroughput: throughput, uploadThroughput: throughput },
      });
    await speed(2048);
    // A connection that is open already keeps the speed it had.
    await slow.keyboard.press("p");
    await slow.getByRole("button", { name: "Paused" }).waitFor();
    await slow.keyboard.press("p");

    // What it costs the router stands in bench/dashboards.ts.
    for (let count = 0; count < 60; count += 1) await one.submit(count % 2 === 0 ? "chat" : "code", { max_tokens: 2 });
    await expect.poll(() => doneOn(quick)).toBe(60);
    expect(await doneOn(slow)).not.toBe(60);

    await speed(-1);
    await expect.poll(() => doneOn(slow)).toBe(60);
  });
});

/** "Done in the last hour" as the page has it. */
function doneOn(page: Page): Promise<number> {
  return page.evaluate(() => {
    const names = [...document.querySelectorAll(".figures dt")];
    const name = names.find(({ textContent }) => textContent === "Done in the last hour");
    return Number.parseInt(name?.nextElementSibling?.textContent ?? "", 10);
  });
}

/** How far the page's clock is from the router's, by the nearer of two looks, one before and one after. */
async function secondsBehind(site: Site, page: Page): Promise<number> {
  const told = async (): Promise<number> =>
    secondsOf(new Date((await site.status()).at * 1000).toLocaleTimeString("en-GB", { timeZone: "Europe/Berlin" }));
  const before = await told();
  const shown = secondsOf((await page.locator(".live small").textContent()) ?? "");
  const after = await told();
  // Around midnight the later one is the smaller.
  return [before, after]
    .map((at) => Math.abs(((shown - at + 129_600) % 86_400) - 43_200))
    .reduce((a, b) => Math.min(a, b));
}

function secondsOf(clock: string): number {
  const [hours = 0, minutes = 0, seconds = 0] = clock.slice(0, 8).split(":").map(Number);
  return hours * 3600 + minutes * 60 + seconds;
}

function moving({ page }: WatchedPage): Promise<number> {
  return page.evaluate(() => document.getAnimations().length);
}
