// Twenty rounds of kill -9 under load, seen from HTTP: whatever was promised before a crash is kept after it.

import { cpSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { expect, it } from "vitest";
import type { Receipt } from "../../src/client/wire.ts";
import { eventually, pause, type RouterProcess, serve, tempFolder } from "../e2e/process.ts";
import { ASYNC, ask, CHAT, receiptOf, submit } from "../e2e/wire.ts";
import { brokenPromises, emptyHistory, type History, sawKey, sawResult, sawStatus } from "./http-history.ts";
import { callersOf, MODELS, seeded } from "./http-load.ts";

const ROUNDS = Number(process.env["SIR_CRASH_ROUNDS"] ?? 20);
const SEED = Number(process.env["SIR_CRASH_SEED"] ?? 20_261_130);

const backend = {
  driver: "mock",
  loadSeconds: 0.05,
  unloadSeconds: 0.01,
  firstTokenSeconds: 0.005,
  tokensPerSecond: 1000,
};
const config = {
  // Only a crash may interrupt a job, and no crash may be charged to it.
  jobs: { leaseSeconds: 600, maxInterruptions: 1000, maxAttempts: 1 },
  scheduler: { policy: "model-score", minResidencySeconds: 0.2, maxWaitSeconds: 1 },
  models: Object.fromEntries(MODELS.map((name) => [name, { concurrency: 32, loadSeconds: 0.05, backend }])),
};

const TIMEOUT_MS = 300_000;

const readOnly = (path: string): Database.Database => new Database(path, { readonly: true });

/** Whoever listens has recovered: no job is claimed by a router that is dead. */
function claimsOfTheDead({ databasePath }: RouterProcess): number {
  const database = readOnly(databasePath);
  try {
    const count = database.prepare(
      "SELECT count(*) FROM jobs WHERE status = 1 AND owner <> (SELECT owner FROM boots ORDER BY seq DESC LIMIT 1)",
    );
    return Number(count.pluck().get());
  } finally {
    database.close();
  }
}

async function inParts<T>(all: readonly T[], act: (one: T) => Promise<void>): Promise<void> {
  const left = [...all];
  const worker = async (): Promise<void> => {
    for (let one = left.shift(); one !== undefined; one = left.shift()) await act(one);
  };
  await Promise.all(Array.from({ length: 8 }, worker));
}

/** What one round did, looked at from the router that came after it. */
async function lookBack(origin: string, history: History, fresh: string[], keysSent: string[]): Promise<void> {
  await inParts(fresh, async (id) => {
    const reply = await ask(origin, `/v1/jobs/${id}`);
    if (reply.status !== 200) history.violations.push(`${id} was accepted and is ${reply.status} after the crash`);
    else sawStatus(history, id, reply.json<Receipt>().status);
  });
  await inParts(keysSent, async (key) => {
    const entry = history.keys.get(key);
    if (entry === undefined) return;
    const known = entry.id !== null;
    const reply = await ask(origin, CHAT, { body: entry.body, headers: { ...ASYNC, "idempotency-key": key } });
    if (reply.status !== 202) history.violations.push(`key ${key} got ${reply.status}: ${reply.text}`);
    const { id } = reply.json<Receipt>();
    sawKey(history, key, id);
    if (known && reply.headers["idempotency-replayed"] !== "true") history.violations.push(`key ${key} ran again`);
    const { model, max_tokens: maxTokens } = JSON.parse(entry.body) as { model: string; max_tokens: number };
    history.accepted.set(id, { model, maxTokens, key });
  });
}

async function rounds(folder: string, history: History): Promise<{ last: RouterProcess; crashes: string[] }> {
  const random = seeded(SEED);
  const crashes: string[] = [];
  let last = await serve({ config, folder });
  for (let round = 0; round < ROUNDS; round++) {
    const stop = new AbortController();
    const load = { origin: last.origin, history, random, signal: stop.signal, fresh: [], keysSent: [] };
    const callers = callersOf(load);
    await pause(100 + random() * 700);
    const exit = await last.kill();
    crashes.push(String(exit.signal));
    stop.abort();
    await callers;
    last = await serve({ config, folder });
    const stale = claimsOfTheDead(last);
    if (stale > 0) history.violations.push(`round ${round}: ${stale} jobs still belong to a dead router`);
    await lookBack(last.origin, history, load.fresh, load.keysSent);
  }
  return { last, crashes };
}

function liveJobs({ databasePath }: RouterProcess): number {
  const database = readOnly(databasePath);
  try {
    return Number(database.prepare("SELECT count(*) FROM jobs WHERE status < 2").pluck().get());
  } finally {
    database.close();
  }
}

it(`keeps every promise through ${ROUNDS} crashes, and its checker notices a job that is lost`, {
  timeout: TIMEOUT_MS,
}, async () => {
  const history = emptyHistory();
  const folder = tempFolder();

  const { last, crashes } = await rounds(folder, history);
  await eventually(() => expect(liveJobs(last)).toBe(0), 120_000);
  await inParts([...history.accepted.keys()], async (id) => {
    sawStatus(history, id, (await receiptOf(last.origin, id)).status);
    for (let reading = 0; reading < 2; reading++) {
      const result = await ask(last.origin, `/v1/jobs/${id}/result`);
      if (result.headers["sir-job-status"] === "completed") sawResult(history, id, result.bytes);
    }
  });
  const exit = await last.stop();

  const database = readOnly(last.databasePath);
  const attempts = database.prepare("SELECT outcome, count(*) AS count FROM attempts GROUP BY outcome").all();
  console.info(`seed ${SEED}: ${history.accepted.size} jobs and ${history.keys.size} keys`, attempts);
  expect(brokenPromises(database, history)).toEqual([]);
  expect(crashes).toEqual(Array(ROUNDS).fill("SIGKILL"));
  expect(exit.code).toBe(0);
  expect(history.accepted.size).toBeGreaterThan(ROUNDS * 10);
  expect([...history.finals.values()].filter((status) => status === "failed")).toEqual([]);
  database.close();

  await noticesLosses(last.folder, history);
});

/** The control: the same checks, on a copy from which something was taken. */
async function noticesLosses(folder: string, history: History): Promise<void> {
  const copy = tempFolder();
  cpSync(join(folder, "data"), join(copy, "data"), { recursive: true });
  const [lost = "", twice = ""] = [...history.accepted.keys()].filter((id) => history.finals.get(id) === "completed");
  const database = new Database(join(copy, "data", "sir.db"));
  database.exec(`
    DELETE FROM jobs WHERE id = '${lost}';
    INSERT INTO attempts (job, epoch, attempt, instance, owner, started_ms, first_byte_ms, ended_ms, outcome, detail)
      SELECT job, epoch + 1, attempt + 1, instance, owner, started_ms, first_byte_ms, ended_ms, outcome, detail
      FROM attempts WHERE outcome = 'succeeded' AND job = (SELECT seq FROM jobs WHERE id = '${twice}');
  `);

  const problems = brokenPromises(database, history);
  database.close();
  const router = await serve({ config, folder: copy });
  const wire = emptyHistory();
  await lookBack(router.origin, wire, [lost], []);
  await router.kill();

  expect(problems).toEqual([
    `${lost} was accepted and is gone`,
    `${twice} (completed) has 2 attempts that succeeded`,
    "1 jobs succeeded twice",
  ]);
  expect(wire.violations).toEqual([`${lost} was accepted and is 404 after the crash`]);
}

it("gives one key one job, however often its answers are lost to crashes", { timeout: TIMEOUT_MS }, async () => {
  const folder = tempFolder();
  const body = JSON.stringify({ model: "m/a", messages: [{ role: "user", content: "hi" }], max_tokens: 3000 });
  const ids = new Set<string>();

  for (let round = 0; round < 3; round++) {
    const router = await serve({ config, folder });
    ids.add((await submit(router.origin, body, { "idempotency-key": "the-key" })).id);
    await router.kill();
  }

  const database = readOnly(join(folder, "data", "sir.db"));
  const rows = database.prepare("SELECT count(*) FROM jobs").pluck().get();
  database.close();
  expect([ids.size, rows]).toEqual([1, 1]);
});
