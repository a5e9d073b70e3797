import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { beforeAll, expect, it } from "vitest";
import { builtCli } from "../e2e/built.ts";
import { eventually } from "../e2e/process.ts";
import { describeInChromium } from "./chromium.ts";
import { type Site, startSite } from "./site.ts";
import { offOrigin, openPage, type Theme, type WatchedPage, type Width } from "./watched-page.ts";

const PLACES = ["now", "jobs", "job", "decisions", "decision", "models", "what-if"] as const;
type Place = (typeof PLACES)[number];

/** What is there once a page has drawn what it was opened for. */
const DRAWN: Readonly<Record<Place, string>> = {
  now: ".g-mark",
  jobs: ".job-rows a",
  job: ".spent tbody tr",
  decisions: ".decision-rows a",
  decision: ".scores li",
  models: ".models li",
  "what-if": ".verdict",
};

/** That one replay runs at a time is no fault of the page; the browser itself notes the refusal. */
const grave = ({ complaints }: WatchedPage): string[] =>
  complaints.filter((text) => !/503 .*\/v1\/replays$/.test(text));

describeInChromium("every page, at both widths and in both themes", (browser) => {
  let site: Site;
  let addresses: Readonly<Record<Place, string>>;
  beforeAll(async () => {
    site = await startSite();
    for (let count = 0; count < 8; count += 1) await site.submit(count % 2 === 0 ? "chat" : "code");
    const { id } = await site.submit("chat");
    await eventually(async () => expect((await site.job(id)).status).toBe("completed"), 60_000);
    const swap = await eventually(async () => {
      const found = (await site.decisions()).data.find(({ kind }) => kind === "swap");
      if (found === undefined) throw new Error("no swap is written yet");
      return found;
    }, 60_000);
    addresses = {
      ...{ now: "#/", jobs: "#/jobs", decisions: "#/decisions", models: "#/models", "what-if": "#/what-if" },
      job: `#/jobs/${id}`,
      decision: `#/decisions/${swap.id}`,
    };
  });

  const cases = PLACES.flatMap((place) =>
    (["desktop", "phone"] as const).flatMap((width) =>
      (["light", "dark"] as const).map((theme): [Place, Width, Theme] => [place, width, theme]),
    ),
  );

  it.each(cases)("is accessible, fits and asks nobody else: %s, %s, %s", async (place, width, theme) => {
    const opened = await openPage(browser(), `${site.page}${addresses[place]}`, { width, theme });
    await opened.page.locator(DRAWN[place]).first().waitFor({ state: "attached" });
    await opened.settled();
    await opened.shot(`${place}-${width}-${theme}`);

    expect(await opened.violations()).toEqual([]);
    expect(await opened.sideways()).toBe(0);
    expect(grave(opened)).toEqual([]);
    expect(offOrigin(opened.asked, site.router.origin)).toEqual([]);
  });

  it("weighs no more than 80 kB", () => {
    const folder = join(dirname(builtCli()), "dashboard", "assets");
    const sizes = readdirSync(folder).map((name) => [name, gzipSync(readFileSync(join(folder, name))).length] as const);
    const bytes = sizes.reduce((sum, [, size]) => sum + size, 0);

    expect(sizes.length).toBeGreaterThan(1);
    expect(bytes, JSON.stringify(sizes)).toBeLessThanOrEqual(80_000);
  });
});
