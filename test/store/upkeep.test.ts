// What keeps the files small, and what is written lazily.

import { existsSync, readFileSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { expect, test } from "vitest";
import { createSpool } from "../../src/store/spool.ts";
import { added, finished, newJob, openInMemory } from "./given.ts";
import { openOnFile, temporaryDirectory } from "./on-file.ts";

const WAL_LIMIT_BYTES = 67_108_864;
const FAST = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();

test("a reader that stays too long lets the WAL grow, and stalls nobody; once it goes the WAL shrinks", async () => {
  const directory = temporaryDirectory(FAST);
  const { store } = await openOnFile(directory);
  await added(store);
  const reader = new Database(join(directory, "sir.db"), { readonly: true });
  reader.exec("BEGIN");
  reader.prepare("SELECT count(*) FROM jobs").get();
  for (let i = 0; i < 24; i++) await added(store, newJob({ text: "x".repeat(3_000_000) }));
  const beganMs = performance.now();

  await store.maintain();
  const tookMs = performance.now() - beganMs;
  const whileRead = await store.usage();
  reader.exec("ROLLBACK");
  reader.close();
  await store.maintain();

  expect(whileRead.walBytes).toBeGreaterThan(WAL_LIMIT_BYTES);
  // A blocking truncate would wait for the whole busy timeout of two seconds.
  expect(tookMs).toBeLessThan(1_900);
  expect((await store.usage()).walBytes).toBe(0);
});

test("a clean stop leaves no WAL behind", async () => {
  const directory = temporaryDirectory();
  const { store } = await openOnFile(directory);
  await added(store);

  await store.close();
  await store.close();

  expect(statSync(join(directory, "sir.db-wal"), { throwIfNoEntry: false })?.size ?? 0).toBe(0);
  expect(existsSync(join(directory, "router.pid"))).toBe(false);
});

test("a copy brings along the bodies that lie beside the database", async () => {
  const directory = temporaryDirectory();
  const target = temporaryDirectory();
  const { store } = await openOnFile(directory);
  const spool = createSpool(directory);
  const file = await spool.create("job_1");
  await file.write(Buffer.from("spooled"));
  await file.commit();
  const job = newJob();
  await added(store, { ...job, body: { ...job.body, sizeBytes: 7, source: { kind: "file", uri: file.uri } } });

  await store.backup(join(target, "sir.db"));

  expect(readFileSync(join(target, "spool", "job_1"), "utf8")).toBe("spooled");
});

test("polls are noted at most twice in a lease, however many there are", async () => {
  const database = new Database(":memory:");
  const { store, clock } = await openInMemory({ database });
  const job = await added(store, newJob({ leaseMs: 60_000 }));
  const notes = new Set<number>();
  const lastPoll = database.prepare<[string], number>("SELECT last_poll_ms FROM jobs WHERE id = ?").pluck();

  for (let second = 0; second < 120; second++) {
    store.notePolls([job.id]);
    await clock.runUntil(clock.nowMs() + 1_000);
    notes.add(lastPoll.get(job.id) ?? 0);
  }

  expect(notes.size).toBeLessThanOrEqual(5);
  expect(clock.nowMs() - Math.max(...notes)).toBeLessThan(32_000);
});

test("each commit reports how many verbs it held", async () => {
  const reports: number[] = [];
  const { store, owner } = await openInMemory({ onCommit: ({ jobs }) => reports.push(jobs) });

  await Promise.all([added(store), added(store), added(store)]);
  await finished(store, owner);

  expect(reports).toEqual([3, 1, 1, 1]);
});
