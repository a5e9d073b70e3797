// One process owns a data directory: a second one leaves at once and harms nothing, and after kill -9 the next one has
// it at once.

import Database from "better-sqlite3";
import { beforeAll, describe, expect, it } from "vitest";
import { RouterProcess, serve, tempFolder } from "../e2e/process.ts";
import { chatBody, receiptOf, submit } from "../e2e/wire.ts";

const backend = { driver: "mock", loadSeconds: 0.05, firstTokenSeconds: 0.5, tokensPerSecond: 100 };
const config = { models: { m: { loadSeconds: 0.05, backend } } };

let folder: string;
let first: RouterProcess;

beforeAll(async () => {
  folder = tempFolder();
  first = await serve({ config, folder });
});

/** From its start, less what the same machine needs at this moment to start a process that only says its version. */
async function livedMs(router: RouterProcess): Promise<number> {
  const startedAtMs = performance.now();
  await router.exited;
  return performance.now() - startedAtMs;
}

describe("a second router on the same directory", () => {
  it("ends at once, names the holder and what to do, and the first one goes on", async () => {
    const { id } = await submit(first.origin, chatBody("m", { max_tokens: 30 }));

    const second = new RouterProcess({ config, folder });
    const tookMs = await livedMs(second);
    const exit = await second.exited;

    const third = new RouterProcess({ config: { modles: {} }, folder: tempFolder() });
    const baselineMs = await livedMs(third);
    expect(exit).toEqual({ code: 1, signal: null });
    expect(tookMs - baselineMs).toBeLessThan(1_000);
    expect(second.stderr).toContain(`process ${first.pid}`);
    expect(second.stderr).toMatch(/mend: Stop it first/);
    expect(await receiptOf(first.origin, id, 10)).toMatchObject({ status: "completed", interruptions: 0 });
    expect((await submit(first.origin, chatBody("m"))).status).toBe("queued");
  });

  it("is a harmless one of five that start at once: exactly one listens", async () => {
    const shared = tempFolder();
    const five = Array.from({ length: 5 }, () => new RouterProcess({ config, folder: shared }));

    const outcomes = await Promise.all(
      five.map((each) =>
        each.listening().then(
          () => "listens",
          () => each.exited.then(({ code }) => `ended ${code}`),
        ),
      ),
    );

    expect(outcomes.toSorted()).toEqual(["ended 1", "ended 1", "ended 1", "ended 1", "listens"]);
    const winner = five[outcomes.indexOf("listens")];
    expect((await winner?.stop())?.code).toBe(0);
    const database = new Database(five[0]?.databasePath ?? "", { readonly: true });
    expect(database.prepare("SELECT count(*) AS boots, sum(clean) AS clean FROM boots").get()).toEqual({
      boots: 1,
      clean: 1,
    });
    database.close();
  });

  it("has the directory at once when the first was killed", async () => {
    const shared = tempFolder();
    const killed = await serve({ config, folder: shared });
    const { id } = await submit(killed.origin, chatBody("m", { max_tokens: 200 }));

    await killed.kill();
    const next = await serve({ config, folder: shared });

    expect(await receiptOf(next.origin, id, 10)).toMatchObject({ status: "completed", attempts: 1 });
    expect((await next.stop()).code).toBe(0);
  });
});
