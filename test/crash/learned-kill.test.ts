// kill -9 of the built router: what it had learned up to a minute before is known to the next one, ranges in its first
// receipts too.

import Database from "better-sqlite3";
import { expect, it } from "vitest";
import type { QueueWire } from "../../src/client/wire.ts";
import { eventually, serve, tempFolder } from "../e2e/process.ts";
import { chatBody, submit } from "../e2e/wire.ts";

const backend = { driver: "mock", loadSeconds: 2, unloadSeconds: 0.1, firstTokenSeconds: 0.05, tokensPerSecond: 40 };
const config = {
  scheduler: { policy: "fifo" },
  models: { chat: { concurrency: 1, backend }, code: { concurrency: 1, backend } },
};
const NOTED_MS = 90_000;
/** Two dozen outcomes of each kind: what a router has noted after some hours. */
const RATIOS = Array.from({ length: 24 }, (_, i) => 0.8 + 0.02 * i);
const KINDS = { atOnce: RATIOS, soon: RATIOS, late: RATIOS };
const SPREAD = JSON.stringify({ interactive: KINDS, normal: KINDS, batch: KINDS, all: KINDS });

/** What the first receipt of a job that needs a load says of its place. */
async function placeOf(origin: string, model: string): Promise<QueueWire | null> {
  return (await submit(origin, chatBody(model, { max_tokens: 20 }), { "sir-lease": "none" })).queue;
}

function noted<Value>(path: string, read: (database: Database.Database) => Value): Value {
  const database = new Database(path);
  try {
    return read(database);
  } finally {
    database.close();
  }
}

it("a router that is killed is followed by one whose first receipt says when, and between what", async () => {
  const folder = tempFolder();
  const empty = await serve({ config, folder });
  expect(await placeOf(empty.origin, "chat")).toMatchObject({ estimated_seconds: null, start: null });
  await empty.stop();
  noted(empty.databasePath, (database) => {
    const write = database.prepare("INSERT OR REPLACE INTO learned (key, at_ms, note) VALUES (?, 0, ?)");
    for (const of of ["estimates answer", "estimates start"]) write.run(of, SPREAD);
    database.exec("DELETE FROM learned WHERE key LIKE 'model %'");
  });
  const first = await serve({ config, folder });
  await placeOf(first.origin, "code");
  await eventually(() => {
    const sql = "SELECT note ->> 'runMs' FROM learned WHERE key = 'model code'";
    expect(noted(first.databasePath, (database) => database.prepare(sql).pluck().get())).toBeGreaterThan(100);
  }, NOTED_MS);

  await first.kill();

  const second = await serve({ config, folder });
  const place = await placeOf(second.origin, "code");
  expect(place?.estimated_seconds).toBeGreaterThan(0.5);
  for (const range of [place?.estimate, place?.start]) {
    expect(range?.observations).toBeGreaterThanOrEqual(RATIOS.length);
    expect(range?.low_seconds).toBeLessThanOrEqual(range?.high_seconds ?? 0);
  }
});
