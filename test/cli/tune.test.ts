import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { TuneReport } from "../../src/simulator/tune.ts";
import { HOUR_MS, madeDay, record, SERVED } from "../simulator/recorded-day.ts";
import { type Terminal, terminal } from "./terminal.ts";

const folder = mkdtempSync(join(tmpdir(), "sir-tune-"));

beforeAll(async () => {
  await record(madeDay(2), SERVED, (_history, _run, store) => store.backup(join(folder, "sir.db")));
}, 120_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function later(): Terminal {
  const console = terminal({ cwd: folder });
  console.clock.jumpWall(2 * HOUR_MS);
  return console;
}

describe("sir tune", () => {
  it("draws waiting against loading from one day, and proposes nothing from it", async () => {
    const console = later();

    const code = await console.run("tune", "--store", "sqlite:./sir.db", "--days", "1", "--json", "--svg", "charts");

    expect(code).toBe(0);
    const report = JSON.parse(console.out()) as TuneReport & { chart: string };
    expect(report.countedDays).toBe(1);
    expect(report.proposal).toBeNull();
    expect(report.curve.length).toBeGreaterThan(10);
    expect(report.curve.map(({ parameter }) => parameter)).not.toContain("weight");
    expect(readFileSync(report.chart, "utf8")).toContain("minResidencySeconds");
    expect(console.err()).toMatch(/16 of 16 candidates/);
  }, 240_000);

  it("says where nothing was recorded, and sends nothing to a router", async () => {
    const console = later();

    const code = await console.run("tune", "--store", "sqlite:./sir.db", "--days", "1", "--to", "3h", "--apply");

    expect(code).toBe(2);
    expect(console.err()).toContain("The configuration that ran was not recorded");
  }, 240_000);

  it.each([
    [["--days", "0"], /from 1 to 30/],
    [["--days", "many"], /from 1 to 30/],
    [["--shadow", "soon"], /--shadow must be a span/],
    [["--to", "nie"], /is no instant/],
  ])("refuses %j", async (words, message) => {
    const console = later();

    expect(await console.run("tune", "--store", "sqlite:./sir.db", ...words)).toBe(2);
    expect(console.err()).toMatch(message);
  });
});
