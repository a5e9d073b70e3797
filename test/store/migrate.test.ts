import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { expect, test } from "vitest";
import { migrate } from "../../src/store/sqlite/migrate.ts";
import { MIGRATIONS } from "../../src/store/sqlite/open.ts";
import { added, answer, claimed, ENDED, fenceOf } from "./given.ts";
import { openOnFile, temporaryDirectory } from "./on-file.ts";
import { runScript } from "./starting.ts";

/** A folder of migrations as drizzle-kit lays it out. */
function folderOf(parent: string, name: string, steps: readonly string[]): string {
  const folder = join(parent, name);
  mkdirSync(join(folder, "meta"), { recursive: true });
  const entries = steps.map((sql, idx) => {
    const tag = `000${idx}_step`;
    writeFileSync(join(folder, `${tag}.sql`), sql);
    return { idx, version: "6", when: 1_000 + idx, tag, breakpoints: true };
  });
  writeFileSync(join(folder, "meta", "_journal.json"), JSON.stringify({ version: "7", dialect: "sqlite", entries }));
  return folder;
}

const BASE = `
  CREATE TABLE parent (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
  --> statement-breakpoint
  CREATE TABLE child (id INTEGER PRIMARY KEY, parent INTEGER NOT NULL REFERENCES parent (id) ON DELETE CASCADE);`;
/** As drizzle-kit writes it, pragmas and all. */
const REBUILD = `
  PRAGMA foreign_keys=OFF;
  --> statement-breakpoint
  CREATE TABLE __new_parent (id INTEGER PRIMARY KEY, name TEXT NOT NULL, extra TEXT);
  --> statement-breakpoint
  INSERT INTO __new_parent (id, name) SELECT id, name FROM parent;
  --> statement-breakpoint
  DROP TABLE parent;
  --> statement-breakpoint
  ALTER TABLE __new_parent RENAME TO parent;
  --> statement-breakpoint
  PRAGMA foreign_keys=ON;`;

test("three starters at once apply a step that must run once exactly once", async () => {
  const parent = temporaryDirectory();
  const steps = ["CREATE TABLE IF NOT EXISTS counter (n)", "INSERT INTO counter VALUES (1)"];
  const folder = folderOf(parent, "steps", steps);
  for (let trial = 0; trial < 3; trial++) {
    const path = join(parent, `trial-${trial}.db`);
    new Database(path).pragma("journal_mode = WAL");
    const startMs = String(Date.now() + 1_500);

    const outcomes = await Promise.all([1, 2, 3].map(() => runScript("migrate-once.ts", [path, folder, startMs])));

    expect(outcomes.map((each) => (each as { error: string | null }).error)).toEqual([null, null, null]);
    expect(outcomes.map((each) => (each as { count: number }).count).sort()).toEqual([0, 0, 2]);
    expect(new Database(path).prepare("SELECT count(*) FROM counter").pluck().get()).toBe(1);
  }
}, 60_000);

test("rebuilding a table keeps the rows of its children", () => {
  const parent = temporaryDirectory();
  const db = new Database(join(parent, "a.db"));
  db.pragma("foreign_keys = ON");
  migrate(db, folderOf(parent, "one", [BASE]));
  db.exec("INSERT INTO parent (id, name) VALUES (1, 'a'), (2, 'b'); INSERT INTO child (parent) VALUES (1), (1), (2)");

  const count = migrate(db, folderOf(parent, "two", [BASE, REBUILD]));

  expect(count).toBe(1);
  expect(db.prepare("SELECT count(*) FROM child").pluck().get()).toBe(3);
  expect(db.pragma("foreign_keys", { simple: true })).toBe(1);
});

test("a step that leaves rows without their parent is undone as a whole", () => {
  const parent = temporaryDirectory();
  const db = new Database(join(parent, "a.db"));
  migrate(db, folderOf(parent, "one", [BASE]));
  db.exec("INSERT INTO parent (id, name) VALUES (1, 'a'); INSERT INTO child (parent) VALUES (1)");

  const run = (): number => migrate(db, folderOf(parent, "two", [BASE, "DELETE FROM parent"]));

  expect(run).toThrow("foreign_key_check");
  expect(db.prepare("SELECT count(*) FROM parent").pluck().get()).toBe(1);
});

test("before the schema changes a copy is put aside, and every row survives the change", async () => {
  const directory = temporaryDirectory();
  const first = await openOnFile(directory);
  const job = await claimed(first.store, first.owner, (await added(first.store)).id);
  await first.store.finish(fenceOf(job), { kind: "succeeded", result: answer("kept") }, ENDED);
  await first.store.close();
  const known = readdirSync(MIGRATIONS)
    .filter((name) => name.endsWith(".sql"))
    .sort();
  const shipped = known.map((name) => readFileSync(join(MIGRATIONS, name), "utf8"));
  const folder = folderOf(directory, "newer", [...shipped, "ALTER TABLE meta ADD COLUMN note TEXT"]);

  const second = await openOnFile(directory, { migrations: folder });

  expect(Buffer.from((await second.store.result(job.id))?.body ?? []).toString()).toBe("kept");
  const copies = readdirSync(directory).filter((name) => name.includes(".before-"));
  expect(copies).toHaveLength(1);
  const copy = new Database(join(directory, copies[0] ?? ""), { readonly: true });
  expect(copy.prepare("SELECT count(*) FROM jobs").pluck().get()).toBe(1);
  expect(copy.pragma("integrity_check", { simple: true })).toBe("ok");
});
