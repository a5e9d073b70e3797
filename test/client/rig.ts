// What the tests of the client start from: a plain engine, a router of its own process before it, and before both a proxy
// that can lose things.

import { beforeAll, beforeEach } from "vitest";
import { sirFetch } from "../../src/client/index.ts";
import type { JobList } from "../../src/client/wire.ts";
import { type EngineServer, type Received, remoteModels, replyWith, startEngine } from "../e2e/engine-server.ts";
import { type RouterProcess, serve, tempFolder } from "../e2e/process.ts";
import { PLAIN } from "../e2e/recorded-answers.ts";
import { ask, CHAT, chatBody } from "../e2e/wire.ts";
import { type FaultProxy, startProxy } from "./fault-proxy.ts";

export interface Rig {
  engine: EngineServer;
  /** The origin of the router that all tests of a file share. */
  router: string;
  proxy: FaultProxy;
}

export const KEY = { authorization: "Bearer sk-secret" };

/** Started once for a file; before each test the engine answers, and the proxy passes all on to the router. */
export function useRig(): Rig {
  const rig = {} as Rig;
  let router: RouterProcess;
  beforeAll(async () => {
    rig.engine = await startEngine(replyWith(200, PLAIN));
    router = await serve({ config: { models: remoteModels(rig.engine, ["m"]) }, folder: tempFolder() });
    rig.router = router.origin;
    rig.proxy = await startProxy();
  });
  beforeEach(async () => {
    await endAll(rig.router);
    rig.engine.answer = replyWith(200, PLAIN);
    rig.engine.received.length = 0;
    rig.proxy.passed.length = 0;
    rig.proxy.target = rig.router;
    rig.proxy.fate = () => "pass";
  });
  return rig;
}

/** What an earlier test has left behind must not reach the engine in the next. */
async function endAll(router: string): Promise<void> {
  const live = await ask(router, "/v1/jobs?status=queued,in_progress&limit=100");
  for (const { id } of live.json<JobList>().data) await ask(router, `/v1/jobs/${id}/cancel`, { method: "POST" });
}

/** A chat request through the proxy. */
export function chatThrough({ proxy }: Rig, init: RequestInit & { fetch?: typeof fetch } = {}): Promise<Response> {
  const { fetch = sirFetch(), ...rest } = init;
  const headers = { "content-type": "application/json", ...KEY, ...(init.headers as Record<string, string>) };
  return fetch(`${proxy.origin}${CHAT}`, { method: "POST", body: chatBody("m"), ...rest, headers });
}

export async function listOf<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}

/** The engine keeps every request waiting. @returns lets it answer them, and all that come later */
export function holdAnswers({ engine }: Rig): () => void {
  const held: Received[] = [];
  engine.answer = (received) => held.push(received);
  return () => {
    engine.answer = replyWith(200, PLAIN);
    for (const received of held.splice(0)) void engine.answer(received);
  };
}
