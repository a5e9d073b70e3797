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

    const shown = (await page.locator(".live small").textContent()) ?? "";
    const { at } = await berlin.status();
    const told = new Date(at * 1000).toLocaleTimeString("en-GB", { timeZone: "Europe/Berlin" });
    expect(shown).toMatch(/^\d\d:\d\d:\d\d Europe\/Berlin$/);
    expect(Math.abs(secondsOf(shown) - secondsOf(told))).toBeLessThan(5);
    expect(await page.locator(".queue tbody .num").first().textContent()).toMatch(/^\d+(\.\d)?\u00a0s$/);
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
      await opened.page.waitForTimeout(300);
      await opened.shot(`${name}-${place === "" ? "now" : place}`);

      expect(await opened.violations()).toEqual([]);
      expect(await opened.sideways()).toBe(0);
      if (name === "reduced-motion") expect(await moving(opened)).toBe(0);
      if (name === "print") expect(await opened.page.getByRole("navigation").isVisible()).toBe(false);
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

  it("a reader on a line of a kilobyte a second costs the router neither time nor memory", async () => {
    const one = await startSite();
    const alone = await medianOf(one);
    const { page } = await openPage(browser(), one.page);
    await page.getByText("Live", { exact: true }).waitFor();
    const line = await page.context().newCDPSession(page);
    await line.send("Network.emulateNetworkConditions", {
      offline: false,
      latency: 200,
      downloadThroughput: 1024,
      uploadThroughput: 1024,
    });
    const before = await rssOf(one);

    for (let count = 0; count < 120; count += 1) await one.submit(count % 2 === 0 ? "chat" : "code", { max_tokens: 2 });
    const watched = await medianOf(one);

    // The figures are bench/dashboards.ts'; here it is only that nothing piles up, on a machine that may be busy.
    expect((await rssOf(one)) - before).toBeLessThan(60);
    expect(watched).toBeLessThan(alone * 3 + 50);
  });
});

function secondsOf(clock: string): number {
  const [hours = 0, minutes = 0, seconds = 0] = clock.slice(0, 8).split(":").map(Number);
  return hours * 3600 + minutes * 60 + seconds;
}

function moving({ page }: WatchedPage): Promise<number> {
  return page.evaluate(() => document.getAnimations().length);
}

/** Milliseconds of an answer that needs no engine. */
async function medianOf(site: Site): Promise<number> {
  const took: number[] = [];
  for (let count = 0; count < 30; count += 1) {
    const startedAt = performance.now();
    await site.get("/v1/models");
    took.push(performance.now() - startedAt);
  }
  return took.sort((a, b) => a - b)[15] ?? 0;
}

/** MiB of the router's process. */
async function rssOf(site: Site): Promise<number> {
  const { readFile } = await import("node:fs/promises");
  const pages = Number((await readFile(`/proc/${site.router.pid}/statm`, "utf8")).split(" ")[1]);
  return (pages * 4096) / 1024 / 1024;
}
