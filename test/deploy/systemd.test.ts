// The unit for systemd: systemd itself reads it without a word, and calls it well shut.

import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";

const file = fileURLToPath(new URL("../../deploy/systemd/sir.service", import.meta.url));
const text = readFileSync(file, "utf8");
const has = spawnSync("systemd-analyze", ["--version"]).status === 0;
if (!has) console.log("=== systemd-analyze is not here: the unit is not proven by this run.");

/** With a program that is there: where node lies is the machine's business. */
function unit(): string {
  const folder = mkdtempSync(join(tmpdir(), "sir-unit-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, "sir.service");
  writeFileSync(path, text.replace("/usr/bin/node", process.execPath));
  chmodSync(path, 0o644);
  return path;
}

describe.skipIf(!has)("sir.service", () => {
  it("is read by systemd without a warning", () => {
    const { status, stderr } = spawnSync("systemd-analyze", ["verify", "--man=no", unit()], { encoding: "utf8" });

    const ours = stderr.split("\n").filter((line) => line.includes("sir.service"));
    expect([status, ours]).toEqual([0, []]);
  });

  it("is well shut: an exposure below 3 of 10", () => {
    const { status, stdout } = spawnSync(
      "systemd-analyze",
      ["security", "--offline=yes", "--threshold=30", "--no-pager", unit()],
      { encoding: "utf8" },
    );

    expect([status, /Overall exposure level .*: (\S+)/.exec(stdout)?.[1]]).toEqual([
      0,
      expect.stringMatching(/^[0-2]\./),
    ]);
  });
});

describe("sir.service and the router", () => {
  it("agree on variables and folders", () => {
    expect(text).toContain("SIR_CONFIG=/etc/sir/sir.config.ts SIR_STORE=sqlite:/var/lib/sir/sir.db");
    expect(text).toContain("ExecReload=/bin/kill -HUP $MAINPID");
    expect(text).toContain("StateDirectory=sir");
  });
});
