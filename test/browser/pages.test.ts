import { beforeAll, expect, it } from "vitest";
import { describeInChromium } from "./chromium.ts";
import { type Site, startSite } from "./site.ts";
import { offOrigin, openPage, type Theme, type Width } from "./watched-page.ts";

const PLACES = { now: "#/", jobs: "#/jobs", decisions: "#/decisions", models: "#/models", "what-if": "#/what-if" };

describeInChromium("every page, at both widths and in both themes", (browser) => {
  let site: Site;
  beforeAll(async () => {
    site = await startSite();
    await site.submit("chat");
    await site.submit("code");
  });

  const cases = Object.keys(PLACES).flatMap((place) =>
    (["desktop", "phone"] as const).flatMap((width) =>
      (["light", "dark"] as const).map((theme): [string, Width, Theme] => [place, width, theme]),
    ),
  );

  it.each(cases)("is accessible, fits and asks nobody else: %s, %s, %s", async (place, width, theme) => {
    const opened = await openPage(browser(), `${site.page}${PLACES[place as keyof typeof PLACES]}`, { width, theme });
    await opened.page.getByRole("main").waitFor();
    await opened.shot(`${place}-${width}-${theme}`);

    expect(await opened.violations()).toEqual([]);
    expect(await opened.sideways()).toBe(0);
    expect(opened.complaints).toEqual([]);
    expect(offOrigin(opened.asked, site.router.origin)).toEqual([]);
  });
});
