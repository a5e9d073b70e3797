import { renameSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { describe, expect, test } from "vitest";
import { createBatch, StoreBroken } from "../../src/store/sqlite/batch.ts";
import { createCore } from "../../src/store/sqlite/core.ts";
import { added, answer, claimed, ENDED, fenceOf, newJob, type nextOwner, openInMemory } from "./given.ts";
import { openOnFile, temporaryDirectory } from "./on-file.ts";

const BIG = "x".repeat(50_000);
const settled = async (promise: Promise<unknown>): Promise<boolean> => {
  const pending = Symbol();
  const turns = new Promise((resolve) => setImmediate(() => setImmediate(() => resolve(pending))));
  return (await Promise.race([promise.catch(() => undefined), turns])) !== pending;
};

describe("a full disk", () => {
  test("refuses what does not fit, keeps what was acknowledged, and goes on when there is room", async () => {
    const database = new Database(join(temporaryDirectory(), "sir.db"));
    const { store, owner, fatal } = await openInMemory({ database });
    const running = await claimed(store, owner, (await added(store)).id);
    database.pragma(`max_page_count = ${Number(database.pragma("page_count", { simple: true })) + 8}`);

    const refused = await store.add(newJob({ text: BIG })).catch((error: unknown) => error);
    const done = await store.finish(fenceOf(running), { kind: "succeeded", result: answer() }, ENDED);
    database.pragma("max_page_count = 100000");
    const later = await store.add(newJob({ text: BIG }));

    expect(refused).toMatchObject({ name: "StoreError", outcome: "unavailable" });
    expect(done?.state.status).toBe("succeeded");
    expect(later.kind).toBe("added");
    expect(fatal).toEqual([]);
    expect(await store.usage()).toMatchObject({ jobs: 2 });
    expect(database.pragma("integrity_check", { simple: true })).toBe("ok");
  });

  test("one body too many does not take its neighbours along", async () => {
    const database = new Database(join(temporaryDirectory(), "sir.db"));
    const { store } = await openInMemory({ database });
    database.pragma(`max_page_count = ${Number(database.pragma("page_count", { simple: true })) + 8}`);

    const outcomes = await Promise.allSettled([
      store.add(newJob()),
      store.add(newJob({ text: BIG })),
      store.add(newJob()),
    ]);

    expect(outcomes.map((each) => each.status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    const { stored } = sums(database);
    expect(await store.usage()).toMatchObject({ jobs: 2, storedBytes: stored });
  });
});

function sums(database: Database.Database): { stored: number } {
  const stored = database.prepare("SELECT (SELECT total(size) FROM bodies) + (SELECT total(size) FROM results)");
  return { stored: Number(stored.pluck().get()) };
}

describe("death at a commit", () => {
  test.each([
    ["before", 0],
    ["after", 1],
  ] as const)("%s it: %i jobs are stored, and nobody ever hears", async (phase, stored) => {
    const database = new Database(":memory:");
    const dead = await openInMemory({
      database,
      hooks: {
        commit(now, batch) {
          if (now === phase && batch === 2) throw new Error("killed");
        },
      },
    });
    const first = await added(dead.store);

    const answerTo = dead.store.add(newJob());
    await settled(answerTo);
    const silent = [answerTo, dead.store.ping(), dead.store.job(first.id), dead.store.deadOwners()];
    const heard = await Promise.all(silent.map(settled));
    const next = await openInMemory({ database });

    expect(heard).toEqual([false, false, false, false]);
    expect((await next.store.usage()).jobs).toBe(1 + stored);
    expect(await next.store.job(first.id)).toEqual(first);
    expect(dead.fatal).toEqual([]);
  });
});

describe("fail-stop", () => {
  test("a COMMIT that fails by an I/O error is never acknowledged, nor repeated", async () => {
    const { database, owner } = await prepared();
    const failing = new Proxy(database, {
      get(target, name) {
        const value = Reflect.get(target, name, target);
        if (name !== "prepare") return typeof value === "function" ? value.bind(target) : value;
        return (sql: string) => (sql === "COMMIT" ? { run: failToSync } : target.prepare(sql));
      },
    });
    const core = createCore(database, { owner, resultTtlMs: 1, readTtlMs: null, maxStoredBytes: 1, subscriptions: [] });
    const run = createBatch(failing, core, {}, () => undefined);
    const touch = { n: 1, verb: "touch", at: { atMs: 1, wallMs: 1 }, args: [], sizeBytes: 0, moved: [] } as const;

    expect(() => run([touch])).toThrow(StoreBroken);
  });

  test("a database that was replaced under the router stops it", async () => {
    const directory = temporaryDirectory();
    const { store, fatal } = await openOnFile(directory);
    await added(store);
    renameSync(join(directory, "sir.db"), join(directory, "moved.db"));

    const upkeep = store.maintain().catch((error: unknown) => error);

    expect(await upkeep).toMatchObject({ name: "StoreError", outcome: "unknown" });
    expect(fatal).toHaveLength(1);
    expect(fatal[0]?.message).toContain("deleted");
    await expect(store.add(newJob())).rejects.toMatchObject({ outcome: "unavailable" });
  });
});

describe("a disk that does not answer", () => {
  test("a verb's outcome is unknown once its time is over", async () => {
    const directory = temporaryDirectory();
    const { store, clock } = await openOnFile(directory, { deadlineMs: 5_000 });
    const blocker = new Database(join(directory, "sir.db"));
    blocker.exec("BEGIN IMMEDIATE");

    const late = store.add(newJob()).catch((error: unknown) => error);
    await clock.settle();
    await clock.runUntil(clock.nowMs() + 5_000);
    const error = await late;
    blocker.exec("ROLLBACK");
    blocker.close();

    expect(error).toMatchObject({ name: "StoreError", outcome: "unknown" });
    await store.ping();
  });

  test("what waits for it is bounded", async () => {
    const directory = temporaryDirectory();
    const { store } = await openOnFile(directory);
    const blocker = new Database(join(directory, "sir.db"));
    blocker.exec("BEGIN IMMEDIATE");

    const waiting = Array.from({ length: 50_000 }, () => store.ping());
    const over = await store.ping().catch((error: unknown) => error);
    blocker.exec("ROLLBACK");
    blocker.close();

    expect(over).toMatchObject({ outcome: "unavailable" });
    expect((await Promise.allSettled(waiting)).every((each) => each.status === "fulfilled")).toBe(true);
  });
});

async function prepared(): Promise<{ database: Database.Database; owner: ReturnType<typeof nextOwner> }> {
  const database = new Database(":memory:");
  const { owner } = await openInMemory({ database });
  return { database, owner };
}

function failToSync(): never {
  throw Object.assign(new Error("disk I/O error"), { code: "SQLITE_IOERR_FSYNC" });
}
