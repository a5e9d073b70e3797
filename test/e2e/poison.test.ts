// One request that makes its engine hang up, or plead busy, each time it comes: it fails in the end, and meanwhile nobody
// else of the same model has to wait for it.

import { beforeAll, describe, expect, it } from "vitest";
import { type EngineServer, remoteModels, replyWith, startEngine } from "./engine-server.ts";
import { pause, type RouterProcess, serve, tempFolder } from "./process.ts";
import { PLAIN } from "./recorded-answers.ts";
import { ask, CHAT, chatBody, receiptOf, submit } from "./wire.ts";

/** It is tried at 0, 1, 3 and 7 s. */
const TRIES = 4;
const WATCHED_MS = 7_500;

let engine: EngineServer;
let router: RouterProcess;

beforeAll(async () => {
  engine = await startEngine((received) => {
    const body = received.body.toString();
    if (body.includes("boom")) received.response.socket?.destroy();
    else if (body.includes("moody")) replyWith(503, '{"error":{"message":"not for this one"}}')(received);
    else replyWith(200, PLAIN)(received);
  });
  const models = remoteModels(engine, ["frail", "coy"], { concurrency: 4 });
  router = await serve({ config: { jobs: { maxInterruptions: TRIES }, models }, folder: tempFolder() });
});

/** One caller after another, for as long as the poison is about; the longest that any had to wait. */
async function longestWaitMs(model: string): Promise<number> {
  const untilMs = performance.now() + WATCHED_MS;
  let longest = 0;
  while (performance.now() < untilMs) {
    const askedAtMs = performance.now();
    const reply = await ask(router.origin, CHAT, { body: chatBody(model) });
    expect([reply.status, reply.text]).toEqual([200, PLAIN]);
    longest = Math.max(longest, performance.now() - askedAtMs);
    await pause(50);
  }
  return longest;
}

describe.concurrent("a request that is poison to its engine", () => {
  it.each([
    ["whose connection it cuts", "frail", "boom"],
    ["that is busy for it alone", "coy", "moody"],
  ])("fails as poison, and nobody waits for it at an engine %s", async (_what, model, word) => {
    const poison = await submit(router.origin, chatBody(model, { word }), { "sir-lease": "60" });

    const waitedMs = await longestWaitMs(model);

    expect(waitedMs).toBeLessThan(2_500);
    expect(await receiptOf(router.origin, poison.id, 20)).toMatchObject({
      status: "failed",
      error: { code: "poison", message: expect.stringContaining(`${TRIES} times`) },
    });
  });
});
