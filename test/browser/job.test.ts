import { createHash } from "node:crypto";
import type { Page } from "playwright-core";
import { beforeAll, expect, it } from "vitest";
import type { ExplanationWire } from "../../src/client/wire-explain.ts";
import { serve, tempFolder } from "../e2e/process.ts";
import { describeInChromium } from "./chromium.ts";
import { sirJson } from "./command.ts";
import { mockModel, type Site, siteOf, startSite, TWO_MODELS } from "./site.ts";
import { openPage } from "./watched-page.ts";

const hash = (key: string): string => createHash("sha256").update(key).digest("hex");
const WITH_KEYS = {
  ...TWO_MODELS,
  keys: {
    alice: { sha256: hash("alice-key"), scopes: ["submit"] },
    bob: { sha256: hash("bob-key"), scopes: ["submit"] },
  },
};
/** What the page says of the job's time, all of it at one moment. */
const SPENT = `({
  parts: [...document.querySelectorAll(".spent tbody tr")].map(({ dataset }) => ({ cause: dataset.cause, ms: Number(dataset.ms) })),
  total: Number(document.querySelector(".spent tfoot tr")?.dataset.total),
  summary: document.querySelector("h1")?.textContent,
})`;
const withKey = (key: string) => ({ before: `sessionStorage.setItem("sir-key", "${key}")` });

describeInChromium("the page of a job", (browser) => {
  it("watched to its end, shows parts that add up to the whole and are those of the API and the command line", async () => {
    const site = await startSite();
    await site.submit("chat", { max_tokens: 1_600 });
    const job = await site.submit("code", { max_tokens: 40 });
    const { page, shot, complaints } = await openPage(browser(), `${site.page}#/jobs/${job.id}`);
    await page.getByRole("heading", { level: 1, name: /^Waiting for/ }).waitFor();
    await page.getByText("GPU held by another model").first().waitFor();
    await shot("job-waiting");

    await page.getByRole("heading", { level: 1, name: /then ran/ }).waitFor({ timeout: 60_000 });

    const told = await site.get<ExplanationWire>(`/v1/jobs/${job.id}/explain`);
    const parts = told.parts.map(({ cause, ms }) => ({ cause, ms }));
    expect(parts.reduce((sum, { ms }) => sum + ms, 0)).toBe(told.total_ms);
    await expect.poll(() => page.evaluate(SPENT)).toEqual({ parts, total: told.total_ms, summary: told.summary });
    const printed = await sirJson<ExplanationWire>(["explain", job.id, "--url", site.router.origin]);
    expect(printed).toEqual(told);
    expect(told.parts.map(({ cause }) => cause)).toContain("loading");
    await shot("job-completed");
    expect(complaints).toEqual([]);
  });

  it("asks before it cancels, then the engine is let go of and the caller is told", async () => {
    const site = siteOf(await serve({ config: WITH_KEYS, folder: tempFolder() }), "alice-key");
    const job = await site.submit("chat", { max_tokens: 8_000 });
    const { page, shot } = await openPage(browser(), `${site.page}#/jobs/${job.id}`, withKey("alice-key"));
    await expect.poll(async () => (await site.status()).running).toBe(1);

    await page.getByRole("button", { name: "Cancel job" }).waitFor();
    await page.keyboard.press("c");
    await page.getByRole("dialog").getByRole("button", { name: "Keep it" }).click();
    expect((await site.job(job.id)).status).toBe("in_progress");
    await page.getByRole("button", { name: "Cancel job" }).click();
    await shot("job-cancel");
    await page.getByRole("dialog").getByRole("button", { name: "Cancel the job" }).click();

    await page.getByRole("heading", { level: 1, name: /Cancelled|cancelled/ }).waitFor();
    await expect.poll(() => page.getByRole("dialog").count()).toBe(0);
    await expect.poll(() => page.getByRole("button", { name: "Cancel job" }).count()).toBe(0);
    const receipt = await site.job(job.id);
    expect([receipt.status, receipt.error?.reason]).toEqual(["cancelled", "client"]);
    await expect.poll(async () => (await site.status()).running).toBe(0);
  });

  it("is nobody else's: another key finds no such job and cannot cancel it", async () => {
    const site = siteOf(await serve({ config: WITH_KEYS, folder: tempFolder() }), "alice-key");
    const bob = siteOf(site.router, "bob-key");
    const job = await site.submit("chat", { max_tokens: 2_000 });

    const { page, violations } = await openPage(browser(), `${site.page}#/jobs/${job.id}`, withKey("bob-key"));

    await page.getByRole("heading", { level: 1, name: "No such job" }).waitFor();
    expect(await violations()).toEqual([]);
    await expect(bob.post(`/v1/jobs/${job.id}/cancel`)).rejects.toThrow(/404/);
    await page.goto(`${site.page}#/jobs`);
    await page.getByText("No jobs yet").waitFor();
    expect((await site.job(job.id)).status).not.toBe("cancelled");
  });
});

describeInChromium("with the keyboard alone", (browser) => {
  let site: Site;
  beforeAll(async () => {
    site = await startSite({ ...TWO_MODELS, models: { chat: mockModel(), code: mockModel() } });
    for (let count = 0; count < 8; count += 1) await site.submit(count % 2 === 0 ? "chat" : "code", { max_tokens: 40 });
    await site.submit("code");
  });

  it("from the start to the decision that made a job wait", async () => {
    const { page } = await openPage(browser(), site.page);
    await page.getByText("Live", { exact: true }).waitFor();

    await page.keyboard.press("g");
    await page.keyboard.press("j");
    await page.locator(".job-rows a").first().waitFor();
    await page.keyboard.press("j");
    for (let row = 0; row < 10; row += 1) {
      const model = await page.evaluate(() => document.activeElement?.closest("[role=row]")?.textContent ?? "");
      if (model.includes("code")) break;
      await page.keyboard.press("j");
    }
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Where the time went" }).waitFor();
    await page.locator(".spent a").first().waitFor();
    for (let stops = 0; stops < 40; stops += 1) {
      await page.keyboard.press("Tab");
      if (await page.evaluate(() => document.activeElement?.matches(".spent a") === true)) break;
    }
    await page.keyboard.press("Enter");

    await expect.poll(() => page.url()).toMatch(/#\/decisions\/dec_[0-9a-f]{32}$/);
    await page
      .locator("#h-decision")
      .getByText(/code|chat/)
      .waitFor();
  });

  it("finds a job from any page, moves row by row, and asks before it cancels the row it is on", async () => {
    const long = await site.submit("chat", { max_tokens: 2_000 });
    const { page } = await openPage(browser(), `${site.page}#/models`);
    await page.getByText("Live", { exact: true }).waitFor();

    await page.keyboard.press("/");
    await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe("find");
    await page.keyboard.type(long.id);
    await expect.poll(() => page.url()).toContain(`q=${long.id}`);
    await expect.poll(() => page.locator(".job-rows a").evaluateAll(hrefsOf)).toEqual([`#/jobs/${long.id}`]);
    await page.keyboard.press("Escape");
    await page.keyboard.press("j");
    await expect.poll(() => focusedIn(page)).toBe(`#/jobs/${long.id}`);
    await page.keyboard.press("c");
    await page.getByRole("dialog").getByText(long.id).waitFor();
    await page.keyboard.press("Escape");

    await expect.poll(() => page.getByRole("dialog").count()).toBe(0);
    await expect.poll(() => focusedIn(page)).toBe(`#/jobs/${long.id}`);
    expect((await site.job(long.id)).status).not.toBe("cancelled");
    await site.post(`/v1/jobs/${long.id}/cancel`);
  });

  it("keeps the focus through sixty seconds in which the list changes", async () => {
    const { page } = await openPage(browser(), `${site.page}#/jobs`);
    await page.locator(".job-rows a").first().waitFor();
    await page.keyboard.press("j");
    await page.keyboard.press("j");
    await expect.poll(() => focusedIn(page)).toMatch(/^#\/jobs\/job_/);
    const held = await focusedIn(page);

    const seen = new Set<string | null>();
    for (let second = 0; second < 60; second += 1) {
      await site.submit(second % 2 === 0 ? "chat" : "code");
      await page.waitForTimeout(1_000);
      seen.add(await focusedIn(page));
    }

    expect([...seen]).toEqual([held]);
    await page.getByRole("button", { name: /new$/ }).waitFor();
    await page.keyboard.press("j");
    await expect.poll(() => focusedIn(page)).not.toBe(held);
  }, 240_000);
});

const hrefsOf = (links: Element[]): (string | null)[] => links.map((link) => link.getAttribute("href"));

/** Where the link leads that has the focus; null: no link has it. */
function focusedIn(page: Page): Promise<string | null> {
  return page.evaluate(() => document.activeElement?.getAttribute("href") ?? null);
}
