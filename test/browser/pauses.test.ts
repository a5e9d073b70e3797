// What an operator held still, in the picture of what happened: where, by whom and why.

import { createHash } from "node:crypto";
import { expect, it } from "vitest";
import { serve, tempFolder } from "../e2e/process.ts";
import { describeInChromium } from "./chromium.ts";
import { mockModel, siteOf } from "./site.ts";
import { openPage } from "./watched-page.ts";

const hash = (key: string): string => createHash("sha256").update(key).digest("hex");
const CONFIG = {
  devices: { gpu0: { memoryGiB: 60 }, gpu1: { memoryGiB: 60 } },
  models: { chat: mockModel({ device: "gpu0" }), embed: mockModel({ device: "gpu1" }) },
  keys: {
    oda: { sha256: hash("oda-key"), scopes: ["submit", "operate"] },
    ann: { sha256: hash("ann-key"), scopes: ["submit"] },
  },
};
const withKey = (key: string) => ({ before: `sessionStorage.setItem("sir-key", "${key}")` });

describeInChromium("a pause of one device", (browser) => {
  it("lies behind its own lanes from the moment it begins, and says who and why as far as the key may know", async () => {
    const site = siteOf(await serve({ config: CONFIG, folder: tempFolder() }), "oda-key");
    const { id } = await site.submit("embed");
    await expect.poll(async () => (await site.job(id)).status, { timeout: 60_000 }).toBe("completed");
    const { page, complaints, violations, shot } = await openPage(browser(), `${site.page}#/`, withKey("oda-key"));
    const block = page.locator("[data-block=paused]");
    await page.locator(".g-device").nth(1).waitFor();
    await page.getByText("Live", { exact: true }).waitFor();

    await site.post("/admin/pause?device=gpu1", { note: "a new fan" });

    await block.waitFor({ state: "attached" });
    // Read at one moment, and again: the picture moves.
    await expect
      .poll(() =>
        page.evaluate(() => {
          const { top = 0, bottom = 0 } = document.querySelector("[data-block=paused]")?.getBoundingClientRect() ?? {};
          const names = [...document.querySelectorAll(".g-device")].map((name) => name.getBoundingClientRect().top);
          return {
            belowFirst: top > (names[0] ?? 0),
            aboveSecond: top <= (names[1] ?? 0),
            reaches: bottom > (names[1] ?? 0),
          };
        }),
      )
      .toEqual({ belowFirst: true, aboveSecond: true, reaches: true });
    await expect.poll(() => block.getAttribute("data-said")).toBe("Paused by oda: a new fan");
    await block.dispatchEvent("pointermove", { bubbles: true });
    await page.locator(".tip").getByText("Paused by oda: a new fan").waitFor();
    await shot("paused-device");
    await page.getByRole("button", { name: "As table" }).click();
    await page.getByRole("cell", { name: "Paused by oda: a new fan" }).waitFor();
    expect(await violations()).toEqual([]);
    await site.post("/admin/resume?device=gpu1");
    await page.getByRole("button", { name: "As table" }).click();
    await block.waitFor({ state: "attached" });
    expect(complaints).toEqual([]);

    const other = await openPage(browser(), `${site.page}#/`, withKey("ann-key"));
    await expect
      .poll(() => other.page.locator("[data-block=paused]").getAttribute("data-said"))
      .toBe("Paused by an operator: a new fan");
  });
});
