// Random lives of a store against its model: idempotency, claims, fences, cancels, retention, kills at a commit. The
// same property is run on stores with a planted bug, because a property that cannot fail shows nothing.

import Database from "better-sqlite3";
import fc from "fast-check";
import { expect, test } from "vitest";
import { type Bug, openReal } from "./model.ts";
import { type Step, steps } from "./model-commands.ts";

/** Forgets the fence of a completion in the statement itself. */
function withoutFence(database: Database.Database): Database.Database {
  return new Proxy(database, {
    get(target, name) {
      const value = Reflect.get(target, name, target);
      if (name !== "prepare") return typeof value === "function" ? value.bind(target) : value;
      return (sql: string) =>
        target.prepare(/UPDATE jobs SET status = \?, finished_ms/.test(sql) ? unfenced(sql) : sql);
    },
  });
}

function unfenced(sql: string): string {
  const bare = sql.replace("AND epoch = ? AND owner = ?", "AND (epoch = ? OR 1) AND (owner = ? OR 1)");
  if (bare === sql) throw new Error("the fence was not found: the planted bug plants nothing");
  return bare;
}

function livesOf(bug: Bug): fc.IAsyncPropertyWithHooks<[Iterable<Step>]> {
  return fc.asyncProperty(fc.commands(steps, { size: "max", maxCommands: 40 }), async (commands) => {
    const plain = new Database(":memory:");
    const real = await openReal(bug === "no fence" ? withoutFence(plain) : plain, bug);
    await fc.asyncModelRun(() => ({ model: { jobs: [], tokens: [] }, real }), commands);
    plain.close();
  });
}

test("the store does what its model does, through kills at any commit", async () => {
  await fc.assert(livesOf("none"), { numRuns: 150, endOnFailure: false });
}, 60_000);

test.each(["no fence", "cancels final jobs", "no recovery"] as const)(
  "a store with the planted bug %j is caught",
  async (bug) => {
    const details = await fc.check(livesOf(bug), { numRuns: 1_000, endOnFailure: true });

    expect(details.failed).toBe(true);
    expect(String(details.errorInstance)).not.toContain("plants nothing");
    expect(details.numRuns).toBeLessThan(1_000);
  },
  60_000,
);
