// The page of jobs while they change: rows follow the stream, and the router is not asked for a list that it has sent.

import { expect, it } from "vitest";
import type { ExplanationWire } from "../../src/client/wire-explain.ts";
import { describeInChromium } from "./chromium.ts";
import { startSite } from "./site.ts";
import { openPage } from "./watched-page.ts";

describeInChromium("the list of jobs under the stream", (browser) => {
  it("takes its rows to their ends, and counts new ones, without reading the list again", async () => {
    const site = await startSite();
    await site.submit("chat", { max_tokens: 1_600 });
    const swap = await site.submit("code", { max_tokens: 40 });
    const { page, asked, complaints } = await openPage(browser(), `${site.page}#/jobs`);
    const row = page.locator("[role=row]", { has: page.locator(`a[href="#/jobs/${swap.id}"]`) });
    await row.getByText("waiting").waitFor();
    await page.getByText("Live", { exact: true }).waitFor();
    const reads = (): number => asked.filter((url) => url.includes("/v1/jobs?view=rows")).length;
    const before = reads();

    const later = await site.submit("chat");

    await page.getByRole("button", { name: "1 new" }).waitFor();
    await row.getByText("completed").waitFor({ timeout: 90_000 });
    const told = await site.get<ExplanationWire>(`/v1/jobs/${swap.id}/explain`);
    const bar = row.getByRole("img");
    await expect
      .poll(() => bar.locator(".seg").evaluateAll((list) => list.map(({ className }) => className.slice(6))))
      .toEqual([...new Set(told.parts.map(({ cause }) => cause))]);
    await expect.poll(async () => (await site.job(later.id)).status, { timeout: 90_000 }).toBe("completed");
    // Longer than the pause after which a list used to be read.
    await page.waitForTimeout(3_000);
    expect(reads()).toBe(before);
    await page.getByRole("button", { name: "1 new" }).click();
    await page.locator(`a[href="#/jobs/${later.id}"]`).waitFor();
    expect(reads()).toBe(before + 1);
    expect(complaints).toEqual([]);
  });
});
