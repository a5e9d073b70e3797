// When an engine counts as ready: healthy, its name in the list, one token; and what is never believed.

import type { IncomingMessage, ServerResponse } from "node:http";
import { describe, expect, it, onTestFinished } from "vitest";
import { openDispatcher } from "../../src/backends/http-call.ts";
import { listsModel, type ProbeTarget, untilReady } from "../../src/backends/probe.ts";
import type { Clock } from "../../src/domain/clock.ts";
import { SystemClock } from "../../src/system/clock.ts";
import { httpUpstream } from "./upstream.ts";

/** Time that runs `pace` times as fast, for limits that are seconds and minutes long. */
function fastClock(pace: number): Clock {
  const real = new SystemClock();
  const fromMs = real.nowMs();
  return {
    nowMs: () => fromMs + (real.nowMs() - fromMs) * pace,
    wallMs: () => real.wallMs(),
    at: (atMs, fire) => real.at(fromMs + (atMs - fromMs) / pace, fire),
    soon: (fire) => real.soon(fire),
  };
}

type Answers = Readonly<Record<string, (response: ServerResponse, request: IncomingMessage) => unknown>>;

const json = (status: number, value: unknown) => (response: ServerResponse) =>
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
const hangs = (): void => undefined;
const models = json(200, { object: "list", data: [{ id: "org/model" }] });

/** One answer after the other for each path; the last one stays. */
async function probing(
  answers: Readonly<Record<string, Answers[string] | Answers[string][]>>,
  over: object = {},
  pace = 1,
) {
  const asked: string[] = [];
  const queues = new Map(Object.entries(answers).map(([path, each]) => [path, [each].flat()]));
  const origin = await httpUpstream((request, response) => {
    const path = request.url ?? "";
    asked.push(path);
    const queue = queues.get(path) ?? [];
    const answer = (queue.length > 1 ? queue.shift() : queue[0]) ?? json(404, { detail: "Not Found" });
    return answer(response, request);
  });
  const dispatcher = openDispatcher();
  onTestFinished(() => dispatcher.destroy());
  const target: ProbeTarget = {
    origin,
    healthPath: "/health",
    servedName: "org/model",
    headers: { authorization: "Bearer k" },
    token: true,
    ...over,
  };
  const using = { clock: fastClock(pace), dispatcher };
  const gives = new AbortController();
  let warmed = 0;
  const ready = (): Promise<void> => untilReady(target, using, gives.signal, () => warmed++);
  return { ready, asked, gives, lists: () => listsModel(target, using, gives.signal), warmed: () => warmed };
}

const COMPLETIONS = "/v1/completions";
const CHAT = "/v1/chat/completions";
const up = { "/health": json(200, {}), "/v1/models": models };

describe("an engine", () => {
  it("is waited for while it hangs, is unhealthy and does not name the model yet", async () => {
    const other = json(200, { data: [{ id: "other" }] });
    const answers = {
      "/health": [hangs, json(503, {}), json(200, {})],
      "/v1/models": [other, json(500, {}), hangs, models],
      [COMPLETIONS]: json(200, { choices: [] }),
    };
    const probe = await probing(answers, {}, 4);

    await probe.ready();

    expect(probe.asked.filter((path) => path === COMPLETIONS)).toHaveLength(1);
    expect(probe.asked.filter((path) => path === "/v1/models")).toHaveLength(4);
    expect(probe.warmed()).toBe(1);
  });

  it.each([
    ["completes", { [COMPLETIONS]: json(200, {}) }, [COMPLETIONS]],
    ["only chats", { [CHAT]: json(200, {}) }, [COMPLETIONS, CHAT]],
    ["only embeds", {}, [COMPLETIONS, CHAT]],
  ])("that %s is ready after its token, with the key it asks for", async (_words, answers, expected) => {
    const keys = new Set<string | undefined>();
    const noted: Answers[string] = (response, request) => {
      keys.add(request.headers.authorization);
      return models(response);
    };
    const probe = await probing({ ...up, "/v1/models": noted, ...answers });

    await probe.ready();

    expect(probe.asked.slice(2)).toEqual(expected);
    expect(keys).toEqual(new Set(["Bearer k"]));
  });

  it.each([
    ["dies at each request", json(500, {}), "/v1/completions answered 500"],
    ["refuses our key", json(401, {}), "/v1/completions answered 401: check the key"],
  ])("that %s is no engine that serves", async (_words, answer, words) => {
    const probe = await probing({ ...up, [COMPLETIONS]: answer });

    await expect(probe.ready()).rejects.toThrow(words);
  });

  it.each([
    ["trips once over its first token", json(500, {})],
    ["hangs at its first token for two minutes", hangs],
  ])("that %s gets another try", async (_words, first) => {
    const probe = await probing({ ...up, [COMPLETIONS]: [first, json(200, {})] }, {}, 40);

    await probe.ready();

    expect(probe.warmed()).toBe(1);
  });

  it("without completions, or without a list, is asked for neither", async () => {
    const plain = await probing(up, { token: false });
    const bare = await probing({ "/health": json(204, {}) }, { token: false, listed: false });

    await Promise.all([plain.ready(), bare.ready()]);

    expect([plain.asked, bare.asked]).toEqual([["/health", "/v1/models"], ["/health"]]);
  });

  it("is given up at once when nobody wants it any more", async () => {
    const probe = await probing({ "/health": hangs });
    const ready = probe.ready();

    probe.gives.abort();

    await expect(ready).rejects.toThrow("given up");
  });

  it("that lists something else than a list of models is not ready", async () => {
    const lists = await Promise.all(
      ["<html>", '{"data":{}}', '{"data":[null]}', "[]"].map(async (text) => {
        const probe = await probing({ ...up, "/v1/models": (response) => response.end(text) });
        return probe.lists();
      }),
    );

    expect(lists).toEqual([false, false, false, false]);
  });
});
