import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { expect, onTestFinished, test } from "vitest";
import { VirtualClock } from "../../src/simulator/virtual-clock.ts";
import { openStoreFile, type StoreFile } from "../../src/store/sqlite/store-file.ts";
import { added, finished, MODEL, newJob } from "./given.ts";
import { openOnFile, temporaryDirectory } from "./on-file.ts";

function opened(directory: string): StoreFile {
  const file = openStoreFile(join(directory, "sir.db"));
  onTestFinished(() => file.close());
  return file;
}

test("a store's file is read beside its router, and sees what was committed since", async () => {
  const directory = temporaryDirectory();
  const { store, owner } = await openOnFile(directory);
  const file = opened(directory);

  const done = await finished(store, owner);
  const waiting = await added(store, newJob());

  expect(file.held()).toBe(true);
  expect(await file.job(done.id)).toEqual(await store.job(done.id));
  expect((await file.jobs({ caller: null, order: "newest", limit: 10 })).data.map(({ id }) => id)).toEqual([
    waiting.id,
    done.id,
  ]);
  expect(await file.attempts(done.id)).toEqual(await store.attempts(done.id));
  expect(await file.downtimes(0, Number.MAX_SAFE_INTEGER)).toEqual([]);
}, 60_000);

test("without its router the time since its last sign is a downtime that goes on, until the next has it", async () => {
  const directory = temporaryDirectory();
  const clock = new VirtualClock();
  const { store } = await openOnFile(directory, { clock });
  await added(store);
  await clock.runUntil(clock.nowMs() + 5_000);
  const stoppedAtMs = clock.nowMs();
  await store.close();
  const file = opened(directory);
  const askedMs = stoppedAtMs + 60_000;

  const gone = await file.downtimes(0, askedMs);
  const before = file.held();
  await clock.runUntil(askedMs);
  await openOnFile(directory, { clock });

  expect(before).toBe(false);
  expect(gone).toEqual([{ fromMs: stoppedAtMs, toMs: askedMs }]);
  expect(file.held()).toBe(true);
  expect(await file.downtimes(0, askedMs + 10_000)).toEqual([{ fromMs: stoppedAtMs, toMs: askedMs }]);
}, 60_000);

test("what is no router's store is refused in words, and left as it was", async () => {
  const directory = temporaryDirectory();
  const foreign = join(directory, "foreign.db");
  new Database(foreign).exec("CREATE TABLE jobs (id)").close();
  const text = join(directory, "text.db");
  writeFileSync(text, "not a database at all, but long enough to look like a file of one".repeat(20));
  const folder = join(directory, "folder.db");
  mkdirSync(folder);

  const faults = [join(directory, "absent.db"), foreign, text, folder].map((path) => {
    try {
      openStoreFile(path);
      return "opened";
    } catch (error) {
      const { fault, mend } = error as { fault: string; mend: string };
      return `${fault}: ${mend}`;
    }
  });

  expect(faults).toEqual([
    "missing: name the router's store with --store",
    "not_a_database: name the router's store with --store",
    "not_a_database: give another path with SIR_STORE or --store, or move this file away",
    "not_writable: make the file and its directory writable for this user",
  ]);
});

test("a router that runs for longer than logs are kept is still known to the next start", async () => {
  const directory = temporaryDirectory();
  const clock = new VirtualClock();
  const { store } = await openOnFile(directory, { clock });
  await clock.runUntil(clock.nowMs() + 8 * 86_400_000);
  await store.ping();
  await store.prune();
  const stoppedAtMs = clock.nowMs();
  await store.close();

  await clock.runUntil(stoppedAtMs + 60_000);
  const { store: next } = await openOnFile(directory, { clock });

  expect(await next.downtimes(0, Number.MAX_SAFE_INTEGER)).toEqual([
    { fromMs: stoppedAtMs, toMs: stoppedAtMs + 60_000 },
  ]);
  expect(await next.waits(MODEL, 0, Number.MAX_SAFE_INTEGER)).toEqual([]);
}, 60_000);
