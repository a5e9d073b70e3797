import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { SCENARIOS } from "../../src/simulator/scenarios.ts";
import { writeTrace } from "../../src/simulator/trace.ts";
import { terminal } from "./terminal.ts";

type Rows = readonly {
  workload: string;
  policy: string;
  seeds: number;
  swaps: number;
  weightedMeanWaitSeconds: number;
}[];

const run = async (...line: string[]): Promise<{ code: number; out: string; err: string }> => {
  const { run: typed, out, err } = terminal();
  const code = await typed("simulate", ...line);
  return { code, out: out(), err: err() };
};

describe("sir simulate", () => {
  it("compares named policies on named workloads, in the order asked for, as rows", async () => {
    const { code, out } = await run(
      "livelock,essay",
      "--policy",
      "longest,as-written",
      "--seeds",
      "2",
      "--threads",
      "1",
      "--json",
    );

    const rows = JSON.parse(out) as Rows;
    expect(code).toBe(0);
    expect(rows.map(({ workload, policy, seeds }) => [workload, policy, seeds])).toEqual([
      ["livelock", "longest", 2],
      ["livelock", "as-written", 2],
      ["essay", "longest", 2],
      ["essay", "as-written", 2],
    ]);
    expect(rows.map((row) => (row as unknown as { unserved: number }).unserved)).toEqual([0, 10, 0, 0]);
    expect(rows[3]?.swaps).toBe(2);
  });

  it("gives the same rows from several threads, which may finish in any order", async () => {
    const line = ["livelock,essay", "--policy", "longest,serial-literal,fifo", "--seeds", "1", "--json"];

    expect((await run(...line, "--threads", "3")).out).toBe((await run(...line, "--threads", "1")).out);
  });

  it("takes a trace file, and prints a table with the notes to read it by", async () => {
    const folder = mkdtempSync(join(tmpdir(), "sir-simulate-"));
    const path = join(folder, "mine.jsonl");
    writeFileSync(path, writeTrace({ ...SCENARIOS.essay, untilMs: null }));
    try {
      const { code, out } = await run(path, "--policy", "fifo", "--seeds", "1", "--threads", "1");

      expect(code).toBe(0);
      expect(out).toMatch(/mine\.jsonl: 20 jobs, 1 seed\npolicy +weighted s/);
      expect(out).toMatch(/\nfifo +8\.0 /);
      expect(out).toContain("loads and unloads");
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it("leaves recorded workloads out of the suite aloud when their traces are not there, and refuses them by name", async () => {
    const line = ["--policy", "fifo", "--seeds", "1", "--threads", "1", "--json"];

    const alone = await run("azure", ...line);
    const listed = await run("list");

    expect(alone.code).toBe(2);
    expect(alone.err).toMatch(/azure: left out.*set SIR_TRACES/s);
    expect(listed.out).toMatch(/\* homelab-x3 .*\n/);
    expect(listed.out).toMatch(/ {4}as-written /);
  });

  it.each([
    [["homlab"], 'Did you mean "homelab"?'],
    [["homelab", "--policy", "longes"], 'Did you mean "longest"?'],
    [["homelab", "--workload", "essay"], "--workload goes with suite"],
    [["suite", "--seeds", "0"], "--seeds needs a whole number"],
  ])("says what is wrong: %j", async (line, words) => {
    const { code, err } = await run(...line);

    expect(code).toBe(2);
    expect(err).toContain(words);
  });
});
