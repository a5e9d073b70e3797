import { createHash } from "node:crypto";
import { expect, it } from "vitest";
import { serve, tempFolder } from "../e2e/process.ts";
import { describeInChromium } from "./chromium.ts";
import { freePort, mockModel, siteOf, startSite, TWO_MODELS } from "./site.ts";
import { openPage } from "./watched-page.ts";

const hash = (key: string): string => createHash("sha256").update(key).digest("hex");

const WITH_KEYS = {
  ...TWO_MODELS,
  keys: {
    boss: { sha256: hash("boss-key"), scopes: ["submit", "operate"] },
    guest: { sha256: hash("guest-key"), scopes: ["submit"] },
  },
};

describeInChromium("states that a page can be in", (browser) => {
  it("the first run says how to ask this very router", async () => {
    const site = await startSite();

    const { page, violations, shot } = await openPage(browser(), site.page);

    await page.getByRole("heading", { name: "Nothing has been asked yet" }).waitFor();
    await page.locator("pre").getByText(`curl ${site.router.origin}/v1/chat/completions`).waitFor();
    expect(await violations()).toEqual([]);
    await shot("first-run");
    await site.submit("chat");
    await page.getByText("Done in the last hour").waitFor();
  });

  it("a router that is killed leaves its last state, says so, and is found again when it is back", async () => {
    const folder = tempFolder();
    const port = await freePort();
    const launch = { config: TWO_MODELS, folder, port };
    const before = siteOf(await serve(launch));
    for (let count = 0; count < 6; count += 1) await before.submit("chat", { max_tokens: 4 });
    const { page, violations, shot } = await openPage(browser(), "about:blank");
    await page.clock.install();
    await page.goto(before.page);
    await page.locator(".feed li").first().waitFor();

    await before.router.kill();

    const banner = page.locator(".banner");
    await banner.getByText("Connection lost.").waitFor();
    await banner.getByText(/This is the state of \d\d:\d\d:\d\d/).waitFor();
    await page.getByText("Not connected").waitFor();
    const clock = page.locator(".live small");
    const stood = await clock.textContent();
    await page.clock.runFor(20_000);
    expect(await clock.textContent()).toBe(stood);
    expect(await violations()).toEqual([]);
    await shot("connection-lost");

    // Its own next try does not come: only the button's does.
    await page.clock.pauseAt((await page.evaluate(() => Date.now())) + 10_000);
    const after = siteOf(await serve(launch));
    await banner.getByRole("button", { name: "Try now" }).click();
    await page.getByText("Live", { exact: true }).waitFor();
    await page.clock.resume();

    await expect.poll(() => banner.count()).toBe(0);
    const shown = await page.locator(".feed a").evaluateAll((links) => links.map((link) => link.getAttribute("href")));
    expect(new Set(shown).size).toBe(shown.length);
    const jobs = await after.get<{ data: { status: string }[] }>("/v1/jobs?limit=50");
    expect(jobs.data).toHaveLength(6);
    await expect
      .poll(async () => {
        const shown = Number.parseInt((await page.locator(".figures dd").first().textContent()) ?? "", 10);
        return shown - (await after.status()).queued;
      })
      .toBe(0);
  });

  it("a router with keys asks for one, once for the tab, and keeps it out of addresses and of the log", async () => {
    const site = siteOf(await serve({ config: WITH_KEYS, folder: tempFolder() }), "boss-key");
    const opened = await openPage(browser(), site.page);
    const { page, asked } = opened;
    await page.getByRole("heading", { name: "This router asks for a key" }).waitFor();
    expect(await opened.violations()).toEqual([]);
    await opened.shot("key-wanted");

    await page.getByLabel("Key", { exact: true }).fill("no-such-key");
    await page.getByRole("button", { name: "Open the dashboard" }).click();
    await page.getByRole("heading", { name: "The router does not know this key" }).waitFor();
    await page.getByLabel("Key", { exact: true }).fill("boss-key");
    await page.getByRole("button", { name: "Open the dashboard" }).click();
    await page.getByText("Live", { exact: true }).waitFor();
    await page.reload();
    await page.getByText("Live", { exact: true }).waitFor();

    expect(asked.filter((url) => url.includes("boss-key"))).toEqual([]);
    const kept = await page.evaluate(() => ({ local: JSON.stringify(localStorage), cookie: document.cookie }));
    expect(kept).toEqual({ local: "{}", cookie: "" });
    expect(site.router.stderr).not.toContain("boss-key");
  });

  it("an act that the key may not do is refused in words, where it was asked for", async () => {
    const site = siteOf(await serve({ config: WITH_KEYS, folder: tempFolder() }), "guest-key");
    const { page } = await openPage(browser(), `${site.page}#/models`, {
      before: "sessionStorage.setItem('sir-key', 'guest-key')",
    });

    await page.getByRole("button", { name: "Load chat", exact: true }).click();

    await page.getByRole("alert").getByText("operate").waitFor();
    expect((await site.status()).models.map(({ state }) => state)).not.toContain("loading");
  });

  it("a router with too many readers says so and shows its state all the same", async () => {
    const site = await startSite();
    await site.submit("chat");
    const abort = new AbortController();
    const readers = await Promise.all(
      Array.from({ length: 64 }, () => fetch(`${site.router.origin}/v1/stream`, { signal: abort.signal })),
    );
    expect(readers.every(({ status }) => status === 200)).toBe(true);

    const { page, shot } = await openPage(browser(), site.page);

    await page.locator(".banner").getByText("Too many dashboards are open").waitFor();
    await page.locator(".device .say strong").first().waitFor();
    await shot("too-many-readers");
    abort.abort();
  });

  it("an address that names no page offers a way on", async () => {
    const site = await startSite();

    const { page } = await openPage(browser(), `${site.page}#/no-such-page`);

    await page.getByRole("heading", { name: "There is no such page" }).waitFor();
    await page.getByRole("link", { name: "See what happens now." }).click();
    await page.locator(".device").first().waitFor();
  });

  it("a model that cannot be loaded says why, on its card", async () => {
    const site = await startSite({
      devices: { gpu0: { memoryGiB: 60 } },
      models: { broken: mockModel({ failLoads: 50 }), fine: mockModel() },
    });
    await site.submit("broken");

    const { page, violations, shot } = await openPage(browser(), `${site.page}#/models`);

    await page.getByText("exited during its load").waitFor();
    // Not while it is being tried again.
    await page.getByText(/Tried again at \d\d:\d\d:\d\d/).waitFor();
    expect(await violations()).toEqual([]);
    await shot("load-failed");
  });
});
