import { createHash } from "node:crypto";
import { beforeAll, expect, it } from "vitest";
import type { DecisionList } from "../../src/client/wire.ts";
import { eventually } from "../e2e/process.ts";
import { describeInChromium } from "./chromium.ts";
import { mockModel, type Site, startSite, TWO_MODELS } from "./site.ts";
import { openPage, WIDTHS } from "./watched-page.ts";

const KEY = "observer-key";
const CONFIG = {
  ...TWO_MODELS,
  keys: { ops: { sha256: createHash("sha256").update(KEY).digest("hex"), scopes: ["submit", "operate"] } },
  models: {
    "org/chat-8b": mockModel({ label: "chat" }),
    "org/code-30b": mockModel({ label: "code" }),
    "lab/<b>odd</b>": mockModel({ label: "broken", failLoads: 99 }),
  },
};

const STATES: readonly (readonly [name: string, place: (site: Seen) => string, shown: string])[] = [
  ["jobs", () => "#/jobs", ".job-rows a"],
  ["jobs by wait", () => "#/jobs?sort=wait&model=org%2Fcode-30b", ".job-rows a"],
  ["jobs, none match", () => "#/jobs?status=expired&q=job_none", ".empty"],
  ["jobs, a refused filter", () => "#/jobs?band=nonsense", "[role=alert]"],
  ["a job that is over", ({ done }) => `#/jobs/${done}`, ".spent tbody tr"],
  ["a job that waits", ({ waits }) => `#/jobs/${waits}`, ".spent tbody tr"],
  ["no such job", () => "#/jobs/job_00000000000070008000000000000000", ".empty"],
  ["decisions", () => "#/decisions?kind=all", ".scores li"],
  ["a decision", ({ decision }) => `#/decisions/${decision}`, ".scores li"],
  ["no such decision", () => "#/decisions/dec_00000000000070008000000000000000", ".empty, .decision-rows"],
  ["what if", () => "#/what-if?policy=fifo", ".verdict"],
];

/** Whether the decision beside the list is the chosen row's, and whether that row has the focus. */
const SHOWN = `(() => {
  const row = document.querySelector(".decision-rows a[aria-current]");
  const detail = document.querySelector("#h-decision")?.textContent;
  const said = [...(row?.querySelectorAll(":scope > span") ?? [])].at(-1)?.textContent;
  return { detailed: !!detail && said?.includes(detail) === true, focused: row !== null && document.activeElement === row };
})()`;

interface Seen {
  readonly done: string;
  readonly waits: string;
  readonly decision: string;
}

describeInChromium("evidence, in each state, at both widths and in both themes", (browser) => {
  let site: Site;
  let seen: Seen;
  beforeAll(async () => {
    site = await startSite(CONFIG, undefined, KEY);
    for (let count = 0; count < 12; count += 1)
      await site.submit(count % 4 === 3 ? "code" : "chat", { max_tokens: 10 });
    const done = await site.submit("code", { max_tokens: 10 });
    await eventually(async () => expect((await site.job(done.id)).status).toBe("completed"), 60_000);
    const waits = await site.submit("broken");
    const decision = await eventually(async () => {
      const moves = await site.get<DecisionList>("/v1/decisions?kind=swap&limit=1");
      if (moves.data[0] === undefined) throw new Error("no swap is written yet");
      return moves.data[0].id;
    }, 60_000);
    seen = { done: done.id, waits: waits.id, decision };
  }, 180_000);

  it.each(STATES)("is accessible and fits: %s", async (name, place, shown) => {
    const { page, violations, sideways, shot, settled, complaints } = await openPage(
      browser(),
      `${site.page}${place(seen)}`,
      {
        before: `sessionStorage.setItem("sir-key", "${KEY}")`,
      },
    );
    await page.locator(shown).first().waitFor({ timeout: 60_000 });

    for (const width of ["desktop", "phone"] as const) {
      await page.setViewportSize(WIDTHS[width]);
      for (const theme of ["light", "dark"]) {
        await settled();
        expect([width, theme, await violations()]).toEqual([width, theme, []]);
        expect([width, theme, await sideways()]).toEqual([width, theme, 0]);
        if (theme === (width === "desktop" ? "light" : "dark")) await shot(`${name.replaceAll(/\W+/g, "-")}-${width}`);
        await page.getByRole("button", { name: /Use the (dark|light) theme/ }).click();
      }
    }
    // What the router refuses is written to the console by the browser itself.
    expect(complaints.filter((text) => !/status of 40[04]/.test(text))).toEqual([]);
  });

  it("goes through the decisions with j and k, and the focus goes along", async () => {
    const { page } = await openPage(browser(), `${site.page}#/decisions?kind=all`, {
      before: `sessionStorage.setItem("sir-key", "${KEY}")`,
    });
    const links = page.locator(".decision-rows a");
    await links.nth(2).waitFor();
    await links.first().focus();

    await page.keyboard.press("j");
    await page.keyboard.press("j");

    // The detail is read from the router, so it follows the row by a moment.
    await expect.poll(() => page.evaluate(SHOWN)).toEqual({ detailed: true, focused: true });
  });
});
