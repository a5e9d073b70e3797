// A router in another time zone than the terminal: what a command prints has one clock, and says whose it is.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Zone } from "../../src/cli/zone.ts";
import { type RouterProcess, serve, tempFolder } from "../e2e/process.ts";
import { inTerminal, piped, type Ran } from "./pseudo-terminal.ts";

const SIZE = { columns: 120, rows: 24 };
const NOON = Date.parse("2026-01-15T12:00:00Z");
const HERE = "Times are the router's, Asia/Tokyo; not those of this machine.";
const UTC = "Times are UTC; those inside of sentences are the router's, Asia/Tokyo.";

describe("a zone", () => {
  it("tells the router's time once it is known, and says so once", () => {
    const zone = new Zone();
    zone.learn("Asia/Tokyo");

    expect(zone.remark()).toBeNull();
    expect(zone.tell(NOON)).toBe("2026-01-15 21:00:00");
    expect([zone.foreign, zone.remark(), zone.remark()]).toEqual(["Asia/Tokyo", HERE, null]);
  });

  it("says nothing where the clocks go alike, by whatever name", () => {
    const zone = new Zone();
    const here = Intl.DateTimeFormat().resolvedOptions().timeZone;
    zone.learn(here === "UTC" ? "Etc/GMT" : here);
    zone.tell(NOON);

    expect([zone.foreign, zone.remark()]).toEqual(["", null]);
  });

  it("leaves times as they were where the name is not known", () => {
    const [zone, own] = [new Zone(), new Zone()];
    zone.learn("Mars/Olympus_Mons");

    expect([zone.tell(NOON), zone.remark()]).toEqual([own.tell(NOON), null]);
  });

  it("is UTC where that was asked for, and says what sentences are not", () => {
    const zone = new Zone(true);
    zone.learn("Asia/Tokyo");

    expect(zone.tell(NOON)).toBe("2026-01-15 12:00:00");
    expect(zone.remark()).toBe(UTC);
  });
});

describe("a router elsewhere", () => {
  const backend = { driver: "mock", loadSeconds: 0.05, firstTokenSeconds: 0.02 };
  let router: RouterProcess;
  let job: string;
  const sir = (...words: string[]): Promise<Ran> => piped(words, { SIR_URL: router.origin, TZ: "America/New_York" });

  beforeAll(async () => {
    const environment = { TZ: "Asia/Tokyo" };
    router = await serve({ folder: tempFolder(), config: { models: { chat: { backend } } }, environment });
    const { err } = await sir("submit", "-m", "chat", "hello");
    job = /job_[0-9a-f]{32}/.exec(err)?.[0] ?? "";
  });
  afterAll(async () => {
    await router.kill();
  });

  /** The receipt's instant in a zone, as the lines of `jobs show` have it. */
  async function accepted(zone: string): Promise<string> {
    const { created_at } = JSON.parse((await sir("jobs", "show", job, "--json")).out) as { created_at: number };
    const known = new Zone(zone === "UTC");
    known.learn(zone);
    return known.tell(created_at * 1_000);
  }

  it("has one clock in lists, receipts and sentences, and its name on standard error", async () => {
    const show = await sir("jobs", "show", job);
    const decisions = await sir("decisions");
    const json = await sir("decisions", "--json");

    expect(show.out).toContain(`accepted\t${await accepted("Asia/Tokyo")}`);
    expect([show.err, decisions.err].every((err) => err.includes(HERE))).toBe(true);
    expect(json.err).toBe("");
  });

  it("--utc", async () => {
    const show = await sir("jobs", "show", job, "--utc");

    expect(show.out).toContain(`accepted\t${await accepted("UTC")}`);
    expect(show.err).toContain(UTC);
  });

  it("is named beside the clock of `sir top`", async () => {
    const { out } = await sir("top", "--once");
    const session = inTerminal(["top"], SIZE, { SIR_URL: router.origin, TZ: "America/New_York" });
    await session.until(/SIR {2}\d\d:\d\d:\d\d Asia\/Tokyo/);
    session.type("q");

    expect(out).toMatch(/^SIR {2}\d\d:\d\d:\d\d Asia\/Tokyo {2}up/);
    expect((await session.ended).code).toBe(0);
  });
});
