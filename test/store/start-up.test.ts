import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { describe, expect, test } from "vitest";
import { VirtualClock } from "../../src/simulator/virtual-clock.ts";
import { openStore, sqlitePath } from "../../src/store/open.ts";
import { type OpenFault, StoreOpenError } from "../../src/store/open-error.ts";
import { assertDurable, assertVersion, prepareWriter } from "../../src/store/sqlite/connection.ts";
import { assertLocal } from "../../src/store/sqlite/disk.ts";
import { added, nextOwner, settings } from "./given.ts";
import { openOnFile, temporaryDirectory } from "./on-file.ts";
import { startAsNobody } from "./starting.ts";

async function faultOf(promise: Promise<unknown>): Promise<StoreOpenError> {
  const error = await promise.then(
    () => new Error("it opened"),
    (caught: unknown) => caught,
  );
  if (error instanceof StoreOpenError) return error;
  throw error;
}

function faultIn(run: () => void): OpenFault | null {
  try {
    run();
    return null;
  } catch (error) {
    return error instanceof StoreOpenError ? error.fault : null;
  }
}

describe("opening a store", () => {
  test("a second router is refused at once, told who holds it, and harms nothing", async () => {
    const directory = temporaryDirectory();
    const first = await openOnFile(directory);
    const job = await added(first.store);
    const before = statSync(join(directory, "sir.db-wal"));

    const error = await faultOf(openOnFile(directory));

    expect(error.fault).toBe("locked");
    for (const word of [directory, String(process.pid), first.owner]) expect(error.message).toContain(word);
    expect(error.mend).not.toBe("");
    expect(statSync(join(directory, "sir.db-wal")).mtimeMs).toBe(before.mtimeMs);
    expect(await first.store.job(job.id)).toEqual(job);
    expect((await added(first.store)).state.status).toBe("queued");
  });

  test("the lock is free again after a close", async () => {
    const directory = temporaryDirectory();
    const first = await openOnFile(directory);
    await first.store.close();

    const second = await openOnFile(directory);

    expect(second.store.cleanShutdown).toBe(true);
  });

  test("the directory is made for this user alone", async () => {
    const directory = join(temporaryDirectory(), "deep", "data");

    await openOnFile(directory);

    expect(statSync(directory).mode & 0o777).toBe(0o700);
  });

  test("a database of a newer version is refused and left as it was", async () => {
    const directory = temporaryDirectory();
    await (await openOnFile(directory)).store.close();
    const path = join(directory, "sir.db");
    const raw = new Database(path);
    raw.exec("INSERT INTO __drizzle_migrations (hash, created_at) VALUES ('from the future', 9999999999999)");
    raw.close();
    const before = readFileSync(path);

    const error = await faultOf(openOnFile(directory));

    expect(error.fault).toBe("newer_schema");
    expect(error.message).toContain("newer version");
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  test("a damaged database is refused after an unclean stop", async () => {
    const directory = temporaryDirectory();
    const path = join(directory, "sir.db");
    const { store } = await openOnFile(directory);
    await Promise.all(Array.from({ length: 500 }, () => added(store)));
    await store.close();
    const raw = new Database(path);
    raw.exec("UPDATE boots SET clean = 0");
    raw.close();
    const bytes = readFileSync(path);
    const pages = bytes.length / 4096;
    bytes.fill(0xa5, 4096 * Math.floor(pages / 2), 4096 * (Math.floor(pages / 2) + 8));
    writeFileSync(path, bytes);

    const error = await faultOf(openOnFile(directory));

    expect(error.fault).toBe("corrupt");
    expect(error.mend).toContain("backup");
  });

  test("a file that is no database is refused and kept", async () => {
    const directory = temporaryDirectory();
    const text = "dear diary, ".repeat(1_000);
    writeFileSync(join(directory, "sir.db"), text);

    const error = await faultOf(openOnFile(directory));

    expect(error.fault).toBe("not_a_database");
    expect(readFileSync(join(directory, "sir.db"), "utf8")).toBe(text);
  });

  test("a directory that cannot be written is refused in words", async () => {
    const directory = temporaryDirectory();

    const outcome = await startAsNobody(join(directory, "data"));

    expect(outcome).toMatchObject({ fault: "not_writable" });
  });

  test("a file where the directory should be is refused in words", async () => {
    const directory = temporaryDirectory();
    writeFileSync(join(directory, "data"), "");

    const error = await faultOf(openOnFile(join(directory, "data")));

    expect(error.fault).toBe("not_writable");
  });

  test("it works from source, where the thread brings its own loader", async () => {
    const clock = new VirtualClock();
    const owner = nextOwner();
    const base = temporaryDirectory();

    const store = await openStore("sqlite:./data/sir.db", base, settings(clock, owner, []));
    const job = await added(store);
    await store.close();

    expect(job.state.status).toBe("queued");
    expect(statSync(join(base, "data", "sir.db")).isFile()).toBe(true);
  });
});

describe("what a store insists on", () => {
  test("FULL is read back after the first write, because the library's own default is NORMAL", () => {
    const directory = temporaryDirectory();
    const careless = new Database(join(directory, "a.db"));
    careless.pragma("journal_mode = WAL");
    careless.exec("CREATE TABLE t (a)");
    const careful = new Database(join(directory, "b.db"));
    prepareWriter(careful);
    careful.exec("CREATE TABLE t (a)");

    const faults = [careless, careful].map((db) => faultIn(() => assertDurable(db)));

    expect(faults).toEqual(["not_durable", null]);
    expect(careful.pragma("synchronous", { simple: true })).toBe(2);
    expect(careful.pragma("auto_vacuum", { simple: true })).toBe(2);
  });

  test("network file systems are refused by their magic number", () => {
    const directory = temporaryDirectory();

    const faults = [0x6969, 0xff534d42 | 0, 0x65735546, 0xef53].map((magic) =>
      faultIn(() => assertLocal(directory, magic)),
    );

    expect(faults).toEqual(["network_filesystem", "network_filesystem", "network_filesystem", null]);
    expect(faultIn(() => assertLocal(directory))).toBeNull();
  });

  test.each([
    ["3.51.2", "old_sqlite"],
    ["3.7.0", "old_sqlite"],
    ["3.51.3", null],
    ["3.53.2", null],
    ["4.0.0", null],
  ])("SQLite %s: %s", (version, fault) => {
    expect(faultIn(() => assertVersion(version))).toBe(fault);
  });
});

describe("store.url", () => {
  test.each([
    ["sqlite:./data/sir.db", "/base/data/sir.db"],
    ["sqlite:data/sir.db", "/base/data/sir.db"],
    ["sqlite:/var/lib/sir/sir.db", "/var/lib/sir/sir.db"],
    ["sqlite:///var/lib/sir/sir.db", "/var/lib/sir/sir.db"],
  ])("%s lies at %s", (url, path) => {
    expect(sqlitePath(url, "/base")).toBe(path);
  });

  test.each(["postgres://user:secret@host/db", "sqlite:", "sqlite::memory:", "sqlite:./data/", "./sir.db", ""])(
    "%j is refused without repeating what may be secret",
    (url) => {
      const open = (): string => sqlitePath(url, "/base");

      expect(open).toThrow(StoreOpenError);
      expect(open).not.toThrow(/secret/);
    },
  );
});
