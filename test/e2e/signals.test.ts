// What an operator's signals do to a router at work: an end in good order, a pause, a configuration read again.

import { existsSync, statSync } from "node:fs";
import Database from "better-sqlite3";
import { describe, expect, it } from "vitest";
import { type EngineServer, remoteModels, replyWith, startEngine } from "./engine-server.ts";
import { eventually, pause, type RouterProcess, serve, tempFolder, writeConfig } from "./process.ts";
import { PLAIN, STREAM } from "./recorded-answers.ts";
import { ask, CHAT, chatBody, open, receiptOf, submit } from "./wire.ts";

const SHUTDOWN_SECONDS = 1;

const endless = async ({ response }: { response: import("node:http").ServerResponse }): Promise<void> => {
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (; !response.destroyed; await pause(20)) response.write(STREAM[1] ?? "");
};

async function atWork(over: object = {}): Promise<{ engine: EngineServer; router: RouterProcess; folder: string }> {
  const engine = await startEngine(() => undefined);
  const folder = tempFolder();
  const config = {
    server: { shutdownSeconds: SHUTDOWN_SECONDS },
    models: remoteModels(engine, ["m"]),
    ...over,
  };
  return { engine, folder, router: await serve({ config, folder }) };
}

interface Row {
  readonly status: number;
  readonly attempts: number;
  readonly interruptions: number;
}

function rowOf({ databasePath }: RouterProcess, id: string): Row | undefined {
  const database = new Database(databasePath, { readonly: true });
  try {
    return database.prepare<[string], Row>("SELECT status, attempts, interruptions FROM jobs WHERE id = ?").get(id);
  } finally {
    database.close();
  }
}

function cleanBoots({ databasePath }: RouterProcess): unknown {
  const database = new Database(databasePath, { readonly: true });
  try {
    return database.prepare("SELECT clean FROM boots ORDER BY seq DESC LIMIT 1").pluck().get();
  } finally {
    database.close();
  }
}

describe("SIGTERM", () => {
  it("ends a stream and a held request in time, queues what runs again uncharged, and leaves a clean store", async () => {
    const { engine, router } = await atWork();
    const receipt = await submit(router.origin, chatBody("m"));
    await engine.request();
    engine.answer = endless;
    const stream = await open(router.origin, CHAT, { body: chatBody("m", { stream: true }) });
    engine.answer = () => undefined;
    const held = ask(router.origin, CHAT, { body: chatBody("m") });
    await engine.request(2);
    const askedAtMs = performance.now();

    router.signal("SIGTERM");
    const bytes = await stream.rest();
    const endedAfterMs = performance.now() - askedAtMs;
    const exit = await router.exited;
    const exitedAfterMs = performance.now() - askedAtMs;

    expect(exitedAfterMs).toBeLessThan(SHUTDOWN_SECONDS * 1000 + 4_000);
    expect(endedAfterMs).toBeGreaterThan(SHUTDOWN_SECONDS * 1000 - 100);
    expect(endedAfterMs).toBeLessThan(SHUTDOWN_SECONDS * 1000 + 2_000);
    const refused = await held;
    expect([refused.status, refused.json()]).toMatchObject([503, { error: { code: "draining" } }]);
    expect(refused.headers["retry-after"]).toMatch(/^[1-9]\d?$/);
    expect(bytes.toString().slice(-300)).toMatch(/data: \{"error":\{"message":.*"code":"draining"\}\}\n\n$/);
    expect(bytes.toString()).not.toContain("[DONE]");
    expect(exit).toEqual({ code: 0, signal: null });
    expect(existsSync(`${router.databasePath}-wal`) ? statSync(`${router.databasePath}-wal`).size : 0).toBe(0);
    expect(cleanBoots(router)).toBe(1);
    expect(rowOf(router, receipt.id)).toEqual({ status: 0, attempts: 0, interruptions: 0 });
  });

  it("lets running work finish, takes no new work, and the next router serves what was still queued", async () => {
    const { engine, router, folder } = await atWork({ server: { shutdownSeconds: 10 } });
    engine.answer = async (received) => {
      await pause(600);
      replyWith(200, PLAIN)(received);
    };
    const held = ask(router.origin, CHAT, { body: chatBody("m") });
    const receipt = await submit(router.origin, chatBody("m"));
    await engine.request(1);

    router.signal("SIGTERM");
    await eventually(async () => {
      const late = await ask(router.origin, CHAT, { body: chatBody("m") }).catch((error: Error) => error);
      expect(late instanceof Error ? "ECONNREFUSED" : late.status).toBe("ECONNREFUSED");
    });
    const answer = await held;
    const exit = await router.exited;

    expect([answer.status, answer.text]).toEqual([200, PLAIN]);
    expect(exit.code).toBe(0);
    expect(rowOf(router, receipt.id)).toMatchObject({ status: 2, attempts: 1 });
    const config = { models: remoteModels(engine, ["m"]) };
    const next = await serve({ config, folder });
    expect((await receiptOf(next.origin, receipt.id)).response?.body).toEqual(JSON.parse(PLAIN));
    await next.kill();
  });

  it("does not wait for what waits: a job whose busy engine asked for half a minute stays queued", async () => {
    const { engine, router } = await atWork();
    engine.answer = ({ response }) => void response.writeHead(503, { "retry-after": "30" }).end();
    const receipt = await submit(router.origin, chatBody("m"));
    await engine.request();
    await eventually(async () => expect((await receiptOf(router.origin, receipt.id)).interruptions).toBe(1));
    const askedAtMs = performance.now();

    const exit = await router.stop();

    expect(exit).toEqual({ code: 0, signal: null });
    expect(performance.now() - askedAtMs).toBeLessThan(4_000);
    expect(rowOf(router, receipt.id)).toMatchObject({ status: 0, interruptions: 1 });
  });

  it("twice ends at once, and what ran is recovered", async () => {
    const { engine, router, folder } = await atWork({ server: { shutdownSeconds: 60 } });
    const receipt = await submit(router.origin, chatBody("m"));
    await engine.request();

    router.signal("SIGTERM");
    await eventually(() => expect(router.stderr).toContain("SIGTERM: no new work"));
    router.signal("SIGTERM");
    const exit = await router.exited;
    engine.answer = replyWith(200, PLAIN);
    const next = await serve({ config: { models: remoteModels(engine, ["m"]) }, folder });

    expect(exit.code).not.toBe(0);
    expect(await receiptOf(next.origin, receipt.id, 5)).toMatchObject({ status: "completed", interruptions: 1 });
    await next.kill();
  });
});

describe("SIGSTOP for two leases", () => {
  const LEASE_SECONDS = 1;

  it("costs nobody a job who polls right after", async () => {
    const { engine, router } = await atWork({ jobs: { leaseSeconds: LEASE_SECONDS, sweepSeconds: 0.2 } });
    const running = await submit(router.origin, chatBody("m"));
    const received = await engine.request();
    const abandoned = await submit(router.origin, chatBody("m"));
    await engine.request(1);

    router.signal("SIGSTOP");
    await pause(2 * LEASE_SECONDS * 1000 + 300);
    router.signal("SIGCONT");
    const first = await receiptOf(router.origin, running.id);
    for (let poll = 0; poll < 8; poll++) {
      await pause(250);
      await receiptOf(router.origin, running.id);
    }
    replyWith(200, PLAIN)(received);

    expect(first.status).toBe("in_progress");
    expect(await receiptOf(router.origin, running.id, 5)).toMatchObject({ status: "completed", attempts: 1 });
    // Who does not come back loses the job a lease later, as ever.
    expect(await receiptOf(router.origin, abandoned.id)).toMatchObject({ error: { reason: "lease_expired" } });
    await router.kill();
  });
});

describe("SIGHUP", () => {
  it("adds, changes and removes models; jobs stay, and those of a removed model say why they failed", async () => {
    const { engine, router, folder } = await atWork();
    const models = (all: object): object => ({ models: all });
    const busy = remoteModels(engine, ["stays"], { concurrency: 1 });
    const reread = async (config: object | string, count: number): Promise<void> => {
      writeConfig(folder, config);
      router.signal("SIGHUP");
      await eventually(() => expect(router.stderr.match(/again: |not taken over/g)).toHaveLength(count));
    };
    await reread(models({ ...busy, ...remoteModels(engine, ["goes"], { concurrency: 1 }) }), 1);
    const running = await submit(router.origin, chatBody("stays"));
    const received = await engine.request();
    const lost = [await submit(router.origin, chatBody("goes")), await submit(router.origin, chatBody("goes"))];
    await engine.request(1);

    await reread(models({ ...busy, ...remoteModels(engine, ["comes"], { aliases: ["new"] }) }), 2);
    replyWith(200, PLAIN)(received);
    engine.answer = replyWith(200, PLAIN);

    expect(await receiptOf(router.origin, running.id, 5)).toMatchObject({ status: "completed" });
    expect((await ask(router.origin, CHAT, { body: chatBody("new") })).text).toBe(PLAIN);
    expect(await receiptOf(router.origin, lost[1]?.id ?? "", 5)).toMatchObject({
      status: "failed",
      error: { code: "model_not_found", message: expect.stringContaining("configuration") },
    });
    const gone = await ask(router.origin, CHAT, { body: chatBody("goes") });
    expect([gone.status, gone.json()]).toMatchObject([404, { error: { code: "model_not_found" } }]);

    await reread("{ not json", 3);
    await reread(models({ broken: { backend: { driver: "remote" } } }), 4);
    expect(router.stderr).toContain("the router goes on as it was");
    expect((await ask(router.origin, CHAT, { body: chatBody("new") })).text).toBe(PLAIN);
    await router.kill();
  });
});
