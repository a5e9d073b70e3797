// Two hundred callers at once and a model that is cold: who is let in is served, who is not knows at once.

import Database from "better-sqlite3";
import { beforeAll, describe, expect, it } from "vitest";
import type { Receipt } from "../../src/client/wire.ts";
import { type RouterProcess, serve, tempFolder } from "./process.ts";
import { ASYNC, ask, CHAT, chatBody, type Reply, receiptOf } from "./wire.ts";

const CALLERS = 200;
const LIMIT = 50;
const CONCURRENCY = 4;

let narrow: RouterProcess;
let wide: RouterProcess;

const config = (maxQueued: number): object => {
  // The load outlasts the burst, so that every caller meets a cold model.
  const backend = {
    driver: "mock",
    loadSeconds: 4,
    unloadSeconds: 0.05,
    firstTokenSeconds: 0.01,
    tokensPerSecond: 400,
  };
  const model = { concurrency: CONCURRENCY, loadSeconds: 4, backend };
  return {
    log: { level: "warn" },
    jobs: { maxQueued },
    scheduler: { policy: "model-score", minResidencySeconds: 0 },
    models: { "m/a": model, "m/b": model },
  };
};

beforeAll(async () => {
  narrow = await serve({ config: config(LIMIT), folder: tempFolder() });
  wide = await serve({ config: config(1_000), folder: tempFolder() });
});

function burst(router: RouterProcess, model: string, headers: Record<string, string>): Promise<Reply[]> {
  const body = chatBody(model, { max_tokens: 4 });
  return Promise.all(Array.from({ length: CALLERS }, () => ask(router.origin, CHAT, { body, headers })));
}

function expectRefusals(replies: readonly Reply[]): void {
  for (const reply of replies) {
    expect(reply.json()).toMatchObject({ error: { code: "queue_full", type: "server_error" } });
    expect(String(reply.headers["retry-after"])).toMatch(/^([1-9]|[1-5]\d|60)$/);
  }
}

interface Records {
  readonly jobs: number;
  readonly completed: number;
  readonly loads: number;
  readonly mostAtOnce: number;
}

/** By record: loads of the model, and how many of its attempts overlapped at the worst instant. */
function recordsOf({ databasePath }: RouterProcess, model: string): Records {
  const database = new Database(databasePath, { readonly: true });
  const number = (sql: string): number => Number(database.prepare(sql).pluck().get(model));
  const records = {
    jobs: number("SELECT count(*) FROM jobs WHERE model = ?"),
    completed: number("SELECT count(*) FROM jobs WHERE model = ? AND status = 2"),
    loads: number("SELECT count(*) FROM loads WHERE model = ?"),
    mostAtOnce: number(`
      WITH mine AS (SELECT a.* FROM attempts a JOIN jobs j ON j.seq = a.job WHERE j.model = ?)
      SELECT max(running) FROM (
        SELECT (SELECT count(*) FROM mine b WHERE b.started_ms <= a.started_ms AND b.ended_ms > a.started_ms) AS running
        FROM mine a)`),
  };
  database.close();
  return records;
}

const withStatus = (replies: readonly Reply[], status: number): Reply[] =>
  replies.filter((reply) => reply.status === status);

describe("a burst of 200 to a cold model", () => {
  it("with a limit of 50 queued gives 50 receipts, refuses 150 at once, and serves every receipt", async () => {
    const replies = await burst(narrow, "m/a", ASYNC);

    const taken = withStatus(replies, 202);
    expect(taken).toHaveLength(LIMIT);
    expect(withStatus(replies, 503)).toHaveLength(CALLERS - LIMIT);
    expectRefusals(withStatus(replies, 503));
    const ends = await Promise.all(taken.map((reply) => receiptOf(narrow.origin, reply.json<Receipt>().id, 20)));
    expect(ends.map(({ status }) => status)).toEqual(Array(LIMIT).fill("completed"));
    expect(recordsOf(narrow, "m/a")).toEqual({ jobs: LIMIT, completed: LIMIT, loads: 1, mostAtOnce: CONCURRENCY });
  });

  it("with a limit of 50 queued serves 50 who wait on their sockets and refuses 150", async () => {
    const replies = await burst(narrow, "m/b", {});

    expect(withStatus(replies, 200)).toHaveLength(LIMIT);
    expect(withStatus(replies, 503)).toHaveLength(CALLERS - LIMIT);
    expectRefusals(withStatus(replies, 503));
    expect(withStatus(replies, 200).every(({ text }) => text.includes("[m/b]"))).toBe(true);
  });

  it("with room for all gives 200 receipts, each its own, with their place and what was applied", async () => {
    const replies = await burst(wide, "m/a", ASYNC);

    const ids = replies.map((reply) => reply.json<Receipt>().id);
    expect(replies.map(({ status }) => status)).toEqual(Array(CALLERS).fill(202));
    expect(new Set(ids).size).toBe(CALLERS);
    expect(replies.map(({ headers }) => headers.location)).toEqual(ids.map((id) => `../jobs/${id}`));
    expect(new Set(replies.map(({ headers }) => headers["preference-applied"]))).toEqual(new Set(["respond-async"]));
    const ends = await Promise.all(ids.map((id) => receiptOf(wide.origin, id, 20)));
    expect(ends.filter(({ status }) => status === "completed")).toHaveLength(CALLERS);
    expect(recordsOf(wide, "m/a")).toMatchObject({ jobs: CALLERS, loads: 1, mostAtOnce: CONCURRENCY });
  });
});

describe("twenty callers at once under one key", () => {
  const underKey = (key: string, bodies: readonly string[]): Promise<Reply[]> => {
    const headers = { ...ASYNC, "idempotency-key": key };
    return Promise.all(
      Array.from({ length: 20 }, (_, i) => {
        const body = bodies[i % bodies.length] ?? "";
        return ask(wide.origin, CHAT, { body, headers });
      }),
    );
  };

  it("with the same body share one job, and nineteen are told so", async () => {
    const replies = await underKey("same", [chatBody("m/b")]);

    expect(new Set(replies.map((reply) => reply.json<Receipt>().id)).size).toBe(1);
    expect(replies.filter(({ headers }) => headers["idempotency-replayed"] === "true")).toHaveLength(19);
  });

  it("with ten bodies see one win, and the others are told that the key is taken", async () => {
    const bodies = Array.from({ length: 10 }, (_, i) => chatBody("m/b", { seed: i }));

    const replies = await underKey("ten", bodies);

    const won = withStatus(replies, 202);
    expect(new Set(won.map((reply) => reply.json<Receipt>().id)).size).toBe(1);
    expect(won).toHaveLength(2);
    expect(withStatus(replies, 422).map((reply) => reply.json())).toEqual(
      Array(18).fill({ error: expect.objectContaining({ code: "idempotency_key_reused" }) }),
    );
  });
});
