// kill -9 in the middle of a wait: the same explanation before, from the store's file while nothing runs, and after.

import { expect, it } from "vitest";
import type { ExplanationWire } from "../../src/client/wire-explain.ts";
import type { JobId } from "../../src/domain/ids.ts";
import { readExplanation } from "../../src/explain/read.ts";
import { withWireStatus } from "../../src/http/status-words.ts";
import { openStoreFile } from "../../src/store/sqlite/store-file.ts";
import { eventually, pause, serve, tempFolder } from "./process.ts";
import { ask, chatBody, receiptOf, submit } from "./wire.ts";

const backend = { driver: "mock", loadSeconds: 1, unloadSeconds: 0.1, firstTokenSeconds: 0.05, tokensPerSecond: 40 };
const config = {
  scheduler: { policy: "fifo" },
  models: { chat: { concurrency: 1, backend }, code: { concurrency: 1, backend } },
};
const DOWN_MS = 3_000;
/** A router writes down that it lives each ten seconds, and with every commit. */
const SIGN_MS = 10_500;

async function explained(origin: string, id: string): Promise<ExplanationWire> {
  const reply = await ask(origin, `/v1/jobs/${id}/explain`);
  expect(reply.status).toBe(200);
  return reply.json<ExplanationWire>();
}

async function fromFile(path: string, id: string): Promise<ExplanationWire> {
  const file = openStoreFile(path);
  try {
    expect(file.held()).toBe(false);
    const telling = { nowMs: Date.now(), label: (model: string) => model, place: null, observes: true };
    const found = await readExplanation(file, id as JobId, telling);
    if (found === null) throw new Error(`${id} is not in ${path}`);
    return withWireStatus(found);
  } finally {
    file.close();
  }
}

const down = (told: ExplanationWire): number => told.parts.find(({ cause }) => cause === "router_down")?.ms ?? 0;

function expectWhole(told: ExplanationWire): void {
  expect(told.parts.reduce((sum, { ms }) => sum + ms, 0)).toBe(told.to_ms - told.from_ms);
  expect(told.partial).toBe(false);
}

it("after kill -9 the time that no router ran is said to be that, and the rest as it was", async () => {
  const folder = tempFolder();
  const first = await serve({ config, folder });
  const origin = first.origin;
  const running = await submit(origin, chatBody("chat", { max_tokens: 4_000 }));
  const waiting = await submit(origin, chatBody("code", { max_tokens: 10 }));
  await eventually(async () => expect((await receiptOf(origin, running.id)).status).toBe("in_progress"));
  await pause(500);
  const before = await explained(origin, waiting.id);

  await first.kill();
  const killedAtMs = Date.now();
  await pause(DOWN_MS);
  const offline = await fromFile(first.databasePath, waiting.id);
  const offlineMs = Date.now() - killedAtMs;
  const second = await serve({ config, folder });
  const downMs = Date.now() - killedAtMs;
  const after = await explained(second.origin, waiting.id);
  const lost = await explained(second.origin, running.id);

  for (const each of [before, offline, after, lost]) expectWhole(each);
  expect(down(before)).toBe(0);
  expect(offline.stretches.at(-1)).toMatchObject({ cause: "router_down" });
  expect(down(offline)).toBeGreaterThanOrEqual(DOWN_MS - 100);
  expect(down(offline)).toBeLessThan(offlineMs + SIGN_MS);
  expect(down(after)).toBeGreaterThanOrEqual(DOWN_MS - 100);
  expect(down(after)).toBeLessThan(downMs + SIGN_MS);
  // What was said before is still said, up to the last sign of life.
  const cut = (told: ExplanationWire, toMs: number): unknown[] =>
    told.stretches
      .filter(({ from_ms }) => from_ms < toMs)
      .map(({ cause, by, from_ms, to_ms }) => [cause, by, from_ms, Math.min(to_ms, toMs)]);
  expect(cut(after, before.to_ms)).toEqual(cut(before, before.to_ms));
  expect(cut(offline, before.to_ms)).toEqual(cut(before, before.to_ms));
  expect(lost.parts.map(({ cause }) => cause)).toEqual(expect.arrayContaining(["lost_attempt", "router_down"]));
});
