// Starts that must not succeed, and what they say: a database from a newer version, damaged files, a taken port, a
// configuration with a slip.

import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import Database from "better-sqlite3";
import { describe, expect, it } from "vitest";
import { builtCli } from "./built.ts";
import { RouterProcess, serve, tempFolder, writeConfig } from "./process.ts";

const config = { models: { "org/chat": { backend: { driver: "mock" } } } };
const version = (
  JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as { version: string }
).version;

async function refused(folder: string, over: object = config): Promise<{ code: number | null; said: string }> {
  const router = new RouterProcess({ config: over, folder });
  const { code } = await router.exited;
  return { code, said: router.stderr };
}

async function usedFolder(): Promise<{ folder: string; path: string }> {
  const folder = tempFolder();
  const router = await serve({ config, folder });
  await router.stop();
  return { folder, path: router.databasePath };
}

describe("a start that cannot succeed", () => {
  it("on a database from a newer version names both versions, and leaves it as it was", async () => {
    const { folder, path } = await usedFolder();
    const database = new Database(path);
    database.prepare("INSERT INTO __drizzle_migrations (hash, created_at) VALUES ('of tomorrow', 1)").run();
    database.prepare("INSERT OR REPLACE INTO meta (key, value) VALUES ('version', '99.1.0')").run();
    database.exec("CREATE TABLE of_tomorrow (id INTEGER)");
    database.pragma("wal_checkpoint(TRUNCATE)");
    database.close();
    const before = readFileSync(path);

    const { code, said } = await refused(folder);

    expect([code, said]).toEqual([1, expect.stringMatching(/newer version of sir/i)]);
    expect(said).toContain("99.1.0");
    expect(said).toContain(version);
    expect(said).toContain("mend: ");
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  it("on a file that is no database says so", async () => {
    const { folder, path } = await usedFolder();
    writeFileSync(path, "this is not a database, but somebody's notes\n".repeat(100));

    const { code, said } = await refused(folder);

    expect([code, said]).toEqual([1, expect.stringMatching(/is not a SQLite database[\s\S]*mend: /)]);
  });

  it("on a damaged database after a crash says so and names the way back", async () => {
    const folder = tempFolder();
    const router = await serve({ config, folder });
    await router.kill();
    const database = new Database(router.databasePath);
    database.pragma("wal_checkpoint(TRUNCATE)");
    database.close();
    const bytes = readFileSync(router.databasePath);
    bytes.fill(0xa5, 4096 * 3, 4096 * 6);
    writeFileSync(router.databasePath, bytes);

    const { code, said } = await refused(folder);

    expect([code, said]).toEqual([1, expect.stringMatching(/is damaged[\s\S]*mend: .*backup/i)]);
  });

  it("on a port that is taken names it, and gives the directory back", async () => {
    const folder = tempFolder();
    const holder = createServer();
    await new Promise<void>((resolve) => holder.listen(0, "127.0.0.1", resolve));
    const address = holder.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    const file = writeConfig(folder, { ...config, store: { url: "sqlite:./data/sir.db" } });

    const words = [builtCli(), "serve", "--config", file, "--port", String(port)];
    const { status, stderr } = spawnSync(process.execPath, words, { encoding: "utf8", timeout: 30_000 });
    holder.close();
    const next = await serve({ config, folder });

    expect([status, stderr]).toEqual([1, expect.stringContaining(`Port ${port} on 127.0.0.1 is in use.`)]);
    expect((await next.stop()).code).toBe(0);
    expect(next.databasePath).toBe(join(folder, "data", "sir.db"));
  });

  it.each([
    ["a misspelt key", { ...config, schedular: {} }, /schedular.*did you mean.*scheduler/is],
    [
      "a misspelt key of a driver",
      { models: { m: { backend: { driver: "mock", tokenPerSecond: 1 } } } },
      /tokensPerSecond/,
    ],
    ["a driver that is not there", { models: { m: { backend: { driver: "mok" } } } }, /mock/],
    ["a lease below the sweep", { ...config, jobs: { leaseSeconds: 1, sweepSeconds: 2 } }, /lease.*sweep/is],
    ["a load that outlasts the ceiling", { ...config, scheduler: { maxWaitSeconds: 10 } }, /maxWaitSeconds/],
  ])("on %s says what came and what to do, with exit code 2 and no stack", async (_what, over, words) => {
    const { code, said } = await refused(tempFolder(), over);

    expect([code, said]).toEqual([2, expect.stringMatching(words)]);
    expect(said).not.toMatch(/\n\s+at /);
  });
});
