import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ReplayReport } from "../../src/client/wire-replay.ts";
import { HOUR_MS, madeDay, record, SERVED } from "../simulator/recorded-day.ts";
import { type Terminal, terminal } from "./terminal.ts";

const folder = mkdtempSync(join(tmpdir(), "sir-replay-"));
const path = join(folder, "sir.db");

beforeAll(async () => {
  await record(madeDay(6), SERVED, (_history, _run, store) => store.backup(path));
}, 120_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Six hours after the day began. */
function later(): Terminal {
  const console = terminal({ cwd: folder });
  console.clock.jumpWall(6 * HOUR_MS);
  return console;
}

const run = (console: Terminal, ...words: string[]): Promise<number> =>
  console.run("replay", "--store", "sqlite:./sir.db", ...words);

describe("sir replay", () => {
  it("puts what happened, the settings that ran and another policy side by side, with who gained and lost", async () => {
    const console = later();

    const code = await run(console, "--from", "4h", "--to", "1h", "--policy", "longest", "--json", "--svg", "charts");

    expect(console.err()).toContain("longest: 100 %");
    expect(code).toBe(0);
    const report = JSON.parse(console.out()) as ReplayReport;
    expect(report.accounts.map(({ title }) => title)).toEqual(["recorded", "replayed", "longest"]);
    expect(report.fidelity).toMatchObject({ faithful: true, meanError: 0 });
    expect(report.policy).toBe("model-score");
    const [other] = report.others;
    expect(other).toMatchObject({ title: "longest", policy: "longest", against: "replayed", set: {} });
    expect(other?.lostMost.length).toBeGreaterThan(0);
    expect(other?.lostMost[0]?.id).toMatch(/^job_[0-9a-f]{32}$/);
    expect(report.charts).toHaveLength(2);
    for (const chart of report.charts) expect(readFileSync(chart, "utf8")).toMatch(/^<svg [^>]*>[\s\S]+<\/svg>\n$/);
  }, 120_000);

  it("says it to people, and changes settings one by one", async () => {
    const console = later();

    const code = await run(console, "--from", "3h", "--set", "minResidencySeconds=120", "--set=maxWaitSeconds=5m");

    expect(code).toBe(0);
    expect(console.out()).toContain("fidelity: with the settings that ran the replay gives");
    expect(console.out()).toMatch(/interactive, p99 +\d/);
    expect(console.out()).toContain("minResidencySeconds=120 maxWaitSeconds=300: weighted mean wait");
    expect(console.out()).toMatch(/\d+\u00a0jobs? waits? at least 1 s less, \d+\u00a0waits? at least 1 s more/);
  }, 120_000);

  it("leaves the settings that ran out where that is wished, and compares with what was recorded", async () => {
    const console = later();

    await run(console, "--from", "2h", "--to", "1h", "--policy", "fifo", "--no-fidelity", "--json");

    const report = JSON.parse(console.out()) as ReplayReport;
    expect(report.fidelity).toBeNull();
    expect(report.accounts.map(({ title }) => title)).toEqual(["recorded", "fifo"]);
    expect(report.others[0]?.against).toBe("recorded");
  }, 120_000);

  it.each([
    [["--from", "gestern"], /--from "gestern" is no instant/],
    [["--from", "1h", "--to", "2h"], /must lie before --to/],
    [["--policy", "longst"], /Did you mean "longest"/],
    [["--set", "maxWaitSecond=3"], /Did you mean "maxWaitSeconds"/],
    [["--set", "maxWaitSeconds"], /must be key=value/],
    [["--set", "maxWaitSeconds=1"], /maxWaitSeconds/],
    [["--set", "maxWaitSeconds=soon"], /must be seconds, e\.g\. maxWaitSeconds=600, or maxWaitSeconds=10m/],
    [["--from", "2020-01-01", "--to", "2020-01-02"], /No job was recorded in that time\. It holds jobs from 20/],
    [["--store", "sqlite:./none.db"], /There is no store at/],
  ])(
    "refuses %j in words, with nothing on standard output",
    async (words, message) => {
      const console = later();

      const code = await run(console, ...words);

      expect(code).toBe(2);
      expect(console.err()).toMatch(message);
      expect(console.out()).toBe("");
    },
    120_000,
  );

  it("writes nothing beside the store it reads", () => {
    expect(existsSync(`${path}-journal`)).toBe(false);
  });
});
