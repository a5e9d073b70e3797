// Faults that clients of other routers have met, where it takes real sockets and processes to show that they are not ours.

import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import Database from "better-sqlite3";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type EngineServer, type Received, remoteModels, replyWith, startEngine } from "./engine-server.ts";
import { eventually, pause, type RouterProcess, serve, tempFolder } from "./process.ts";
import { PLAIN } from "./recorded-answers.ts";
import { ASYNC, ask, CHAT, chatBody, hangUpAfterBody, open, receiptOf } from "./wire.ts";

const RESPONSES = "/v1/responses";
const RESPONSE = JSON.stringify({
  id: "resp_1",
  object: "response",
  status: "completed",
  output: [{ type: "message" }],
  usage: {},
});

let engine: EngineServer;
let router: RouterProcess;
let folder: string;
let config: object;
let before = 0;

beforeAll(async () => {
  engine = await startEngine(replyWith(200, PLAIN));
  folder = tempFolder();
  config = { jobs: { sweepSeconds: 0.2 }, models: remoteModels(engine, ["m"]) };
  router = await serve({ config, folder });
});

beforeEach(() => {
  before = engine.received.length;
});

const calls = (): Received[] => engine.received.slice(before);
const slowly =
  (waitMs: number, text = PLAIN) =>
  async (received: Received): Promise<void> => {
    await pause(waitMs);
    replyWith(200, text)(received);
  };

describe("fire and forget came back empty: a background response whose socket goes", () => {
  const asked = { body: JSON.stringify({ model: "m", input: "hi", background: true }) };

  const finished = (id: string): Promise<unknown> =>
    eventually(async () => {
      const response = (await ask(router.origin, `${RESPONSES}/${id}`)).json();
      expect(response).toMatchObject({ status: "completed" });
      return response;
    });

  it("with the answer's headers runs to its full output", async () => {
    engine.answer = slowly(400, RESPONSE);
    const opened = await open(router.origin, RESPONSES, asked);
    opened.socket.destroy();

    const response = await finished(String(opened.headers["sir-job-id"]).replace("job_", "resp_"));

    expect(response).toMatchObject({ output: [{ type: "message" }], usage: {} });
    expect(calls()).toHaveLength(1);
  });

  it("right after the request's body runs to its full output", async () => {
    engine.answer = slowly(400, RESPONSE);
    await hangUpAfterBody(router.origin, RESPONSES, asked).closed;
    const { cut } = await engine.request(before);
    const list = (await ask(router.origin, "/v1/jobs?limit=1")).json<{ data: { id: string }[] }>();

    const response = await finished(list.data[0]?.id.replace("job_", "resp_") ?? "");

    expect(response).toMatchObject({ output: [{ type: "message" }], usage: {} });
    expect(await Promise.race([cut.then(() => "cut"), pause(0).then(() => "whole")])).toBe("whole");
  });

  it("and whose request is a megabyte is read by the built router's thread, and repeated in its response", async () => {
    engine.answer = replyWith(200, RESPONSE);
    const body = JSON.stringify({
      model: "m",
      input: "x".repeat(1_000_000),
      instructions: "be kind",
      background: true,
    });

    const made = (await ask(router.origin, RESPONSES, { body })).json();

    expect(made["instructions"]).toBe("be kind");
    expect(await finished(String(made["id"]))).toMatchObject({ instructions: "be kind" });
  });
});

describe("a service that is killed right after its 202", () => {
  const script = fileURLToPath(new URL("./submitter.mjs", import.meta.url));

  /** Submits from a process of its own and kills that as soon as it has the receipt; the job's id. */
  const submitAndDie = (headers: Record<string, string>): Promise<string> =>
    new Promise((resolve, reject) => {
      const words = [script, `${router.origin}${CHAT}`, chatBody("m"), JSON.stringify({ ...ASYNC, ...headers })];
      const child = spawn(process.execPath, words, { stdio: ["ignore", "pipe", "inherit"] });
      child.once("error", reject);
      child.stdout.setEncoding("utf8").once("data", (line: string) => {
        const [status, id = ""] = line.trim().split(" ");
        child.once("exit", () => (status === "202" ? resolve(id) : reject(new Error(line))));
        child.kill("SIGKILL");
      });
    });

  it("has its job run once, to the end, when it asked for no lease", async () => {
    engine.answer = slowly(500);

    const id = await submitAndDie({ "sir-lease": "none" });
    const receipt = await receiptOf(router.origin, id, 10);

    expect(receipt).toMatchObject({ status: "completed", attempts: 1, interruptions: 0 });
    expect(calls()).toHaveLength(1);
  });

  it("has its job cancelled by its lease, its engine freed, and nothing run again", async () => {
    engine.answer = () => undefined;

    const id = await submitAndDie({ "sir-lease": "1" });
    const received = await engine.request(before);
    await received.cut;
    const receipt = await receiptOf(router.origin, id);

    expect(receipt).toMatchObject({ status: "cancelled", error: { reason: "lease_expired" } });
    await pause(1_000);
    expect(calls()).toHaveLength(1);
  });

  it("has its job run to the end by the next router when this one is killed too, and answered once", async () => {
    engine.answer = () => undefined;
    const id = await submitAndDie({ "sir-lease": "none" });
    await engine.request(before);
    await router.kill();
    engine.answer = replyWith(200, PLAIN);
    router = await serve({ config, folder });

    const receipt = await receiptOf(router.origin, id, 10);

    expect(receipt).toMatchObject({ status: "completed", attempts: 1, interruptions: 1 });
    expect(calls()).toHaveLength(2);
  });
});

describe("twenty identical submissions made twenty rows", () => {
  const rows = (key: string): unknown => {
    const database = new Database(router.databasePath, { readonly: true });
    const count = database.prepare("SELECT count(*) FROM jobs WHERE idempotency_key = ?").pluck().get(key);
    database.close();
    return count;
  };

  it("so twenty at once under one key are one row, in the database and after a restart, and one call", async () => {
    engine.answer = replyWith(200, PLAIN);
    const asked = { body: chatBody("m"), headers: { ...ASYNC, "idempotency-key": "twenty" } };
    const replies = await Promise.all(Array.from({ length: 20 }, () => ask(router.origin, CHAT, asked)));
    const ids = new Set(replies.map((reply) => reply.json<{ id: string }>().id));
    const counted = rows("twenty");
    await receiptOf(router.origin, [...ids][0] ?? "", 10);
    await router.stop();
    router = await serve({ config, folder });

    const again = await ask(router.origin, CHAT, asked);

    expect([ids.size, counted]).toEqual([1, 1]);
    expect(replies.filter(({ headers }) => headers["idempotency-replayed"] === "true")).toHaveLength(19);
    expect(ids.has(again.json<{ id: string }>().id)).toBe(true);
    expect(rows("twenty")).toBe(1);
    expect(calls()).toHaveLength(1);
  });
});
