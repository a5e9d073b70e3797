// "Cancel all matching" on the page of jobs: behind a typed count, for what was counted alone, and nobody else's.

import { createHash } from "node:crypto";
import { expect, it } from "vitest";
import { serve, tempFolder } from "../e2e/process.ts";
import { describeInChromium } from "./chromium.ts";
import { mockModel, type Site, siteOf, startSite } from "./site.ts";
import { openPage } from "./watched-page.ts";

const hash = (key: string): string => createHash("sha256").update(key).digest("hex");
/** Nothing that was asked for ends before the test does. */
const LONG = { max_tokens: 500_000 };
const LIVE = { prefer: "respond-async, lease=3600" };
const SLOW = {
  devices: { gpu0: { memoryGiB: 100 } },
  models: { chat: mockModel({ concurrency: 2 }), code: mockModel({ concurrency: 2 }) },
};
const plain = (text: string | null): string => (text ?? "").replaceAll("\u00a0", " ");

async function statusesOf(site: Site, ids: readonly string[]): Promise<string[]> {
  const receipts = await Promise.all(ids.map((id) => site.job(id)));
  return [...new Set(receipts.map(({ status }) => status))].toSorted();
}

describeInChromium("cancelling all that match", (browser) => {
  it("wants their number typed, then cancels those and no others, and says what became of them", async () => {
    const site = await startSite(SLOW);
    const submit = async (model: string): Promise<string> => (await site.submit(model, LONG, LIVE)).id;
    const chats = await Promise.all(Array.from({ length: 130 }, () => submit("chat")));
    const codes = await Promise.all(Array.from({ length: 3 }, () => submit("code")));
    await expect.poll(async () => (await site.status()).running, { timeout: 60_000 }).toBe(4);
    const { page, violations, complaints, shot } = await openPage(browser(), `${site.page}#/jobs?model=chat`);

    await page.getByRole("button", { name: "Cancel all matching" }).click();
    const dialog = page.getByRole("dialog");
    const act = dialog.getByRole("button", { name: /^Cancel 130.jobs$/ });
    await act.waitFor();
    const said = plain(await dialog.locator("form p").textContent());
    expect(said).toMatch(/^130 jobs that wait or run \(model chat\) are cancelled/);
    expect(said).toContain("2 of them run: what is written so far is lost.");
    expect(await violations()).toEqual([]);
    await shot("cancel-matching");
    expect(await act.isDisabled()).toBe(true);
    const late = await submit("chat");
    await page.keyboard.type("13");
    await page.keyboard.press("Enter");
    expect(await act.isDisabled()).toBe(true);
    expect(await statusesOf(site, chats)).not.toContain("cancelled");
    await page.keyboard.type("0");
    await page.keyboard.press("Enter");

    const close = dialog.getByRole("button", { name: "Close" });
    await close.waitFor({ timeout: 60_000 });
    expect(plain(await dialog.getByRole("status").textContent())).toBe("130 jobs were cancelled.");
    expect(await statusesOf(site, chats)).toEqual(["cancelled"]);
    expect(await statusesOf(site, [...codes, late])).not.toContain("cancelled");
    await close.click();
    await expect.poll(() => page.getByRole("dialog").count()).toBe(0);
    await expect.poll(() => page.locator(".job-rows").getByText("cancelled").count()).toBeGreaterThan(40);
    expect(complaints).toEqual([]);
  });

  it("leaves everything as it is when the question is closed", async () => {
    const site = await startSite(SLOW);
    const { id } = await site.submit("chat", LONG, LIVE);
    const { page } = await openPage(browser(), `${site.page}#/jobs`);

    await page.getByRole("button", { name: "Cancel all matching" }).click();
    await page.getByLabel("Type 1 to say").fill("1");
    await page.keyboard.press("Escape");

    await expect.poll(() => page.getByRole("dialog").count()).toBe(0);
    await expect.poll(() => page.evaluate(() => document.activeElement?.textContent ?? "")).toContain("Cancel all");
    expect((await site.job(id)).status).not.toBe("cancelled");
    await page.goto(`${site.page}#/jobs?status=completed`);
    await page.getByText("No job matches").waitFor();
    expect(await page.getByRole("button", { name: "Cancel all matching" }).count()).toBe(0);
  });

  it("is for a caller's own jobs alone, also where it may see those of others", async () => {
    const keys = {
      ann: { sha256: hash("ann-key"), scopes: ["submit"] },
      bob: { sha256: hash("bob-key"), scopes: ["submit", "observe"] },
    };
    const ann = siteOf(await serve({ config: { ...SLOW, keys }, folder: tempFolder() }), "ann-key");
    const bob = siteOf(ann.router, "bob-key");
    const anns = (await ann.submit("chat", LONG, LIVE)).id;
    const bobs = (await bob.submit("chat", LONG, LIVE)).id;
    const withKey = (key: string) => ({ before: `sessionStorage.setItem("sir-key", "${key}")` });
    const seen = await openPage(browser(), `${ann.page}#/jobs`, withKey("ann-key"));
    await seen.page.getByRole("button", { name: "Cancel all matching" }).click();
    await seen.page
      .getByRole("dialog")
      .getByRole("button", { name: /^Cancel 1.job$/ })
      .waitFor();

    const { page } = await openPage(browser(), `${ann.page}#/jobs`, withKey("bob-key"));
    await page.getByRole("button", { name: "Cancel all matching" }).click();
    await page.getByLabel("Type 2 to say").fill("2");
    await page.keyboard.press("Enter");

    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: "Close" }).waitFor();
    expect(plain(await dialog.getByRole("status").textContent())).toBe(
      "1 job was cancelled; 1 job was not this key's to cancel.",
    );
    expect((await bob.job(bobs)).status).toBe("cancelled");
    expect((await ann.job(anns)).status).not.toBe("cancelled");
  });
});
