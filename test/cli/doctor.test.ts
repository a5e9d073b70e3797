// The doctor: what is in force and from where, and for each fault a mend and exit status 8.

import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { terminal } from "./terminal.ts";

let dir = "";
let squatter: Server | null = null;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "sir-doctor-"));
});
afterEach(() => {
  squatter?.close();
  squatter = null;
  rmSync(dir, { recursive: true, force: true });
});

const models = { chat: { loadSeconds: 2, backend: { driver: "mock" } } };

async function examine(change: object = {}, ...flags: string[]) {
  const { run, out, io } = terminal({ cwd: dir });
  const config = { server: { port: 0 }, models, ...change };
  writeFileSync(join(dir, "sir.config.json"), JSON.stringify(config));
  const code = await run("doctor", "--json", ...flags);
  const report = JSON.parse(out()) as {
    ok: boolean;
    checks: { id: string; level: string; text: string; mend: string | null }[];
    values: { path: string; value: unknown; origin: string }[];
  };
  const faults = report.checks.filter(({ level }) => level === "error");
  return { code, io, faults, ...report };
}

describe("sir doctor", () => {
  it("is content with a good configuration and leaves nothing behind", async () => {
    const { code, ok, checks } = await examine();

    expect({ code, ok }).toEqual({ code: 0, ok: true });
    expect(checks.every(({ level }) => level === "ok")).toBe(true);
    expect(() => rmSync(join(dir, "data"))).toThrow(/ENOENT/);
  });

  it("says of each value where it came from", async () => {
    const { values } = await examine({}, "--host", "127.0.0.1");

    const of = (path: string) => values.find((each) => each.path === path);
    expect(of("server.host")).toEqual({ path: "server.host", value: "127.0.0.1", origin: "--host" });
    expect(of("server.port")).toEqual({ path: "server.port", value: 0, origin: "file" });
    expect(of("jobs.maxAttempts")).toEqual({ path: "jobs.maxAttempts", value: 3, origin: "default" });
    expect(of("scheduler.maxWaitSeconds")).toMatchObject({ value: 120, origin: "default" });
  });

  it("names settings of a policy that is not chosen, and still exits 0", async () => {
    const { code, checks } = await examine({ scheduler: { policy: "fifo", ageWeight: 2 } });

    expect(code).toBe(0);
    expect(checks).toContainEqual(expect.objectContaining({ id: "scheduler.ageWeight", level: "warn" }));
  });

  it("gives every fault of the configuration its mend", async () => {
    const { code, faults } = await examine({
      jobs: { leaseSeconds: 1 },
      models: { big: { ...models.chat, devise: 1 } },
    });

    expect(code).toBe(8);
    expect(faults).toEqual([
      { id: "models.big.devise", level: "error", text: "is not a known key.", mend: 'Did you mean "device"?' },
    ]);
  });

  it("finds a port that another program holds", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    squatter = server;
    await new Promise((resolve) => server.once("listening", resolve));
    const address = server.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;

    const { code, faults } = await examine({ server: { port } });

    expect(code).toBe(8);
    expect(faults[0]).toMatchObject({ id: "address", text: `Port ${port} on 127.0.0.1 is in use.` });
  });

  it("finds an address that this machine does not have", async () => {
    const { faults } = await examine({ server: { host: "192.0.2.1" } });

    expect(faults[0]).toMatchObject({ id: "address", text: "This machine has no address 192.0.2.1." });
  });

  it("finds a data directory that is a file", async () => {
    writeFileSync(join(dir, "data"), "");

    const { code, faults } = await examine();

    expect(code).toBe(8);
    expect(faults[0]).toMatchObject({ id: "data directory", mend: "Choose another store.url." });
  });

  it.skipIf(process.getuid?.() === 0)("finds a data directory that may not be written", async () => {
    mkdirSync(join(dir, "data"));
    chmodSync(join(dir, "data"), 0o500);

    const { faults } = await examine();

    expect(faults[0]?.id).toBe("data directory");
  });

  it("finds a store that is no database", async () => {
    mkdirSync(join(dir, "data"));
    writeFileSync(
      join(dir, "data", "sir.db"),
      "this is a letter, not a database, and longer than a hundred bytes".repeat(9),
    );

    const { code, faults } = await examine();

    expect(code).toBe(8);
    expect(faults[0]?.text).toContain("is not a SQLite database");
  });

  it("finds a database from a newer version", async () => {
    mkdirSync(join(dir, "data"));
    const db = new Database(join(dir, "data", "sir.db"));
    db.exec("CREATE TABLE __drizzle_migrations (id INTEGER PRIMARY KEY, hash TEXT NOT NULL, created_at INTEGER)");
    db.exec("INSERT INTO __drizzle_migrations (hash, created_at) VALUES ('from the future', 1)");
    db.close();

    const { faults } = await examine();

    expect(faults[0]?.text).toContain("newer version");
  });

  it("finds a remote engine that does not answer", async () => {
    const backend = { driver: "remote", baseUrl: "http://127.0.0.1:1/v1" };

    const { code, faults } = await examine({ models: { far: { backend } } });

    expect(code).toBe(8);
    expect(faults[0]).toEqual({
      id: "far",
      level: "error",
      text: "remote at http://127.0.0.1:1/v1 does not answer.",
      mend: "Start it, or correct backend.baseUrl.",
    });
  });

  it("prints for people a line for each check, the mend under its fault, and the count last", async () => {
    const { run, out } = terminal({ cwd: dir });
    writeFileSync(join(dir, "sir.config.json"), JSON.stringify({ models, jobs: { leaseSeconds: 0.5 } }));

    const code = await run("doctor");

    expect(code).toBe(8);
    expect(out()).toMatch(/^ERROR jobs\.leaseSeconds .*\n +mend: Make the lease longer than the sweep\.$/m);
    expect(out().split("\n").at(-1)).toBe("1 error, 0 warnings");
  });
});
