// A disk that fails to sync once. Later syncs would succeed, and tell nothing about what was dropped: so the store must
// never acknowledge anything again.

import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { builtWriter, temporaryDirectory } from "../store/on-file.ts";
import { verify } from "./verify.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const STRACE = "/usr/bin/strace";
const mayTrace = existsSync(STRACE) && spawnSync(STRACE, ["-qq", "-o", "/dev/null", "true"]).status === 0;

test.skipIf(!mayTrace)(
  "after a failed fsync nothing is acknowledged, and nothing acknowledged is lost",
  async () => {
    const directory = temporaryDirectory();
    const trace = join(directory, "trace");
    // Opening the store syncs too, for each migration: the one that fails comes after them.
    const fault = ["-f", "-qq", "-o", trace, "-e", "trace=fsync,fdatasync", "-e", "inject=fsync:error=EIO:when=120"];
    const workload = ["--import", "tsx", join(import.meta.dirname, "workload.ts"), directory];
    const argv = [...fault, process.execPath, ...workload, (await builtWriter()).href, "FULL", "100000"];

    const run = spawnSync(STRACE, argv, { cwd: ROOT, encoding: "utf8", timeout: 100_000 });

    const acknowledged = readFileSync(join(directory, "run.ack"), "utf8").split("\n").slice(0, -1);
    const syncs = readFileSync(trace, "utf8").split("\n");
    const failed = syncs.findIndex((line) => line.includes("EIO"));
    const writer = syncs[failed]?.split(" ")[0] ?? "";
    expect(failed).toBeGreaterThan(0);
    expect(run.status).toBe(1);
    expect(run.stderr).toContain("COMMIT failed: SQLITE_IOERR_FSYNC");
    expect(syncs.slice(failed + 1).filter((line) => line.startsWith(writer) && line.includes("= 0"))).toEqual([]);
    expect(acknowledged.length).toBeGreaterThan(30);
    expect(verify(join(directory, "sir.db"), acknowledged)).toEqual({ lost: 0, problems: [] });
  },
  120_000,
);
