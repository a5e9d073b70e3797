import { beforeAll, expect, it } from "vitest";
import type { ReplayChoicesWire, ReplayWire } from "../../src/client/wire-live.ts";
import type { ReplayReport } from "../../src/client/wire-replay.ts";
import { duration } from "../../src/scheduler/wording.ts";
import { eventually } from "../e2e/process.ts";
import { describeInChromium } from "./chromium.ts";
import { sirJson } from "./command.ts";
import { type Site, startSite, TWO_MODELS } from "./site.ts";
import { openPage } from "./watched-page.ts";

const CONFIG = { ...TWO_MODELS, scheduler: { policy: "model-score", minResidencySeconds: 1, maxWaitSeconds: 20 } };

describeInChromium("the page What if", (browser) => {
  let site: Site;
  beforeAll(async () => {
    site = await startSite(CONFIG);
    for (let count = 0; count < 60; count += 1) {
      const model = count % 20 < 14 ? "chat" : "code";
      await site.submit(model, { max_tokens: 30 }, { "sir-priority": count % 3 === 0 ? "interactive" : "batch" });
    }
    await eventually(async () => {
      const { queued, running } = await site.status();
      expect([queued, running]).toEqual([0, 0]);
    }, 180_000);
  }, 240_000);

  it("says with the settings that ran how near the replay comes, and that nothing differs", async () => {
    const { page, shot, violations } = await openPage(browser(), `${site.page}#/what-if`);

    await page.locator("[data-faithful]").waitFor({ timeout: 60_000 });

    await page.locator(".verdict").getByText("These are the settings that ran.").waitFor();
    const changes = await page.locator(".delta .change").allTextContents();
    expect(changes.length).toBeGreaterThan(10);
    expect(new Set(changes)).toEqual(new Set(["=unchanged"]));
    expect(await violations()).toEqual([]);
    await shot("what-if-as-it-ran");
  });

  it("shows with other settings the very numbers that sir replay prints, losers included", async () => {
    const { page, shot, complaints } = await openPage(browser(), `${site.page}#/what-if`);
    await page.locator("[data-faithful]").waitFor({ timeout: 60_000 });

    await page.getByRole("button", { name: "Policy longest" }).click();

    await page.getByText(/would have waited less/).waitFor({ timeout: 60_000 });
    const command = (await page.locator(".take-away pre").first().textContent()) ?? "";
    const printed = await sirJson<ReplayReport>([
      ...command.split(" ").slice(1),
      ...["--store", `sqlite:${site.router.databasePath}`],
    ]);
    const [kept] = (await site.get<ReplayChoicesWire>("/v1/replays")).replays;
    const replay = await site.get<ReplayWire>(`/v1/replays/${kept?.id}`);
    expect(replay.report).toEqual(printed);
    const [before, after] = [printed.accounts[1], printed.accounts[2]];
    for (const band of ["interactive", "batch"] as const) {
      const cells = await page.locator(`[data-band=${band}] .delta`).allTextContents();
      const figures = (["p50Seconds", "p99Seconds", "maxSeconds"] as const).map((key) =>
        [before, after].map((account) => duration((account?.bands[band][key] ?? 0) * 1_000)),
      );
      figures.forEach(([was = "", is = ""], i) => {
        expect(cells[i]).toContain(`${was} → would have been ${is}`);
      });
    }
    const verdict = (await page.locator(".verdict").textContent()) ?? "";
    const [other] = printed.others;
    expect(verdict).toContain(`${other?.gained}\u00a0job`);
    expect(verdict).toContain(other?.lost === 0 ? "nobody longer" : `${other?.lost} longer`);
    await shot("what-if-longest");
    expect(complaints).toEqual([]);
  });

  it("refuses what the configuration would refuse, in its words, and marks the setting", async () => {
    const { page, violations, shot } = await openPage(browser(), `${site.page}#/what-if?set=maxWaitSeconds=0.5`);

    await page.getByRole("alert").getByText("maxWaitSeconds").waitFor({ timeout: 60_000 });

    await page.locator(".knob.refused").getByText("Ceiling").waitFor();
    expect(await violations()).toEqual([]);
    await shot("what-if-refused");
    await page.getByRole("button", { name: "As it ran" }).click();
    await page.locator(".verdict").waitFor({ timeout: 60_000 });
    await expect.poll(() => page.getByRole("alert").count()).toBe(0);
  });

  it("says so where nothing is recorded yet", async () => {
    const empty = await startSite();

    const { page, violations } = await openPage(browser(), `${empty.page}#/what-if`);

    await page.getByText("Nothing is recorded yet.").waitFor();
    expect(await violations()).toEqual([]);
  });
});
