// A router with OTEL_EXPORTER_OTLP_ENDPOINT against a receiver that speaks OTLP/HTTP: one trace a job under the caller's, its
// waits and attempts in it, nothing of what was asked or answered; and jobs that end whatever becomes of their traces.

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import type { ReceivedSpan } from "../trace/otlp.ts";
import { otlpReceiver } from "../trace/receiver.ts";
import { eventually, type RouterProcess, serve, tempFolder } from "./process.ts";

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const PARENT = "b7ad6b7169203331";
const SECRET = "the word that must not travel";

/** An engine that remembers which traceparent it was sent. */
async function engine(): Promise<{ url: string; parents: string[] }> {
  const parents: string[] = [];
  const server = createServer((request, response) => {
    request.resume().on("end", () => {
      if (request.method !== "POST") return response.writeHead(200).end("{}");
      parents.push(String(request.headers["traceparent"]));
      const usage = { prompt_tokens: 12, completion_tokens: 34 };
      const body = { choices: [{ message: { role: "assistant", content: SECRET } }], usage };
      return response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, parents };
}

function start(environment: Record<string, string>, remote: string): Promise<RouterProcess> {
  const local = { driver: "mock", loadSeconds: 0.3, tokensPerSecond: 500 };
  const config = {
    models: {
      chat: { loadSeconds: 0.3, backend: local },
      far: { backend: { driver: "remote", baseUrl: remote } },
    },
  };
  return serve({ config, folder: tempFolder(), environment: { OTEL_BSP_SCHEDULE_DELAY: "100", ...environment } });
}

async function run(router: RouterProcess, model: string, headers: Record<string, string> = {}): Promise<string> {
  const sent = { "content-type": "application/json", prefer: "respond-async", ...headers };
  const messages = [{ role: "user", content: SECRET }];
  const body = JSON.stringify({ model, max_tokens: 5, messages, metadata: { private: SECRET } });
  const posted = await fetch(`${router.origin}/v1/chat/completions`, { method: "POST", headers: sent, body });
  const { id } = (await posted.json()) as { id: string };
  const done = await fetch(`${router.origin}/v1/jobs/${id}?wait=30`);
  expect(await done.json()).toMatchObject({ status: "completed" });
  return id;
}

const ofJob = (spans: readonly ReceivedSpan[], id: string): ReceivedSpan | undefined =>
  spans.find(({ name, attributes }) => name === "sir.job" && attributes["sir.job.id"] === id);

it("writes one trace a job: under the caller's span, with its waits and its attempt, and a link to the load", async () => {
  const [receiver, far] = [await otlpReceiver(), await engine()];
  const environment = { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, OTEL_SERVICE_NAME: "gpu-box" };
  const router = await start(environment, far.url);

  const called = await run(router, "chat", { traceparent: `00-${TRACE}-${PARENT}-01` });
  const own = await run(router, "far");
  const unrecorded = await run(router, "far", { traceparent: `00-${"1".repeat(32)}-${PARENT}-00` });
  await eventually(() => expect(ofJob(receiver.spans, own)).toBeDefined(), 60_000);
  await router.stop();

  const root = ofJob(receiver.spans, called);
  const below = receiver.spans.filter(({ parentSpanId }) => parentSpanId === root?.spanId);
  const load = receiver.spans.find(({ name }) => name === "sir.load");
  expect(root).toMatchObject({ traceId: TRACE, parentSpanId: PARENT, service: "gpu-box", status: { code: 0 } });
  expect(root?.attributes).toMatchObject({ "sir.job.status": "succeeded", "sir.model": "chat", "sir.band": "normal" });
  const waits = below.filter(({ name }) => name === "sir.wait");
  expect(waits.map(({ attributes }) => attributes["sir.cause"])).toContain("loading");
  const loading = waits.find(({ attributes }) => attributes["sir.cause"] === "loading");
  expect(loading?.links).toMatchObject([{ traceId: load?.traceId, spanId: load?.spanId }]);
  const [chat] = below.filter(({ name }) => name === "chat chat");
  expect(chat).toMatchObject({ traceId: TRACE, kind: 3, events: [{ name: "first_byte" }] });
  expect(chat?.attributes).toMatchObject({
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": "mock",
    "gen_ai.request.model": "chat",
  });
  // Children touch and fill the job's life, to the nanosecond.
  const ordered = below.toSorted((a, b) => (BigInt(a.startTimeUnixNano) < BigInt(b.startTimeUnixNano) ? -1 : 1));
  const gaps = ordered.slice(1).map((span, i) => {
    return Number(BigInt(span.startTimeUnixNano) - BigInt(ordered[i]?.endTimeUnixNano ?? 0)) / 1e6;
  });
  expect(Math.max(...gaps.map(Math.abs))).toBeLessThanOrEqual(1);

  const alone = ofJob(receiver.spans, own);
  const attempt = receiver.spans.find(({ parentSpanId }) => parentSpanId === alone?.spanId && alone !== undefined);
  expect([alone?.traceId, alone?.parentSpanId ?? ""]).toEqual([own.slice(4), ""]);
  const chats = receiver.spans.filter(({ name }) => name === "chat far");
  expect(chats.map(({ traceId, spanId }) => `00-${traceId}-${spanId}-01`)).toEqual([far.parents[0]]);
  expect(chats[0]?.attributes).toMatchObject({ "gen_ai.usage.input_tokens": 12, "gen_ai.usage.output_tokens": 34 });
  expect(attempt).toBeDefined();
  expect(ofJob(receiver.spans, unrecorded)).toBeUndefined();
  expect(receiver.bodies.join()).not.toContain(SECRET);
});

it("ends jobs as ever when the receiver refuses or is not there, says so once, and still goes down at once", async () => {
  const [receiver, far] = [await otlpReceiver(), await engine()];
  receiver.status = 500;
  for (const url of [receiver.url, "http://127.0.0.1:9", "no address"]) {
    const router = await start({ OTEL_EXPORTER_OTLP_ENDPOINT: url }, far.url);
    for (let n = 0; n < 5; n++) await run(router, "far");
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    await run(router, "far");

    expect(await router.stop()).toMatchObject({ code: 0 });
    expect(router.stderr.split("\n").filter((line) => line.includes('"event":"trace"')).length).toBeLessThan(2);
  }
});

it.each([
  ["http://127.0.0.1:9", true],
  ["", false],
])("loads the code for traces with the endpoint %j: %s", async (OTEL_EXPORTER_OTLP_ENDPOINT, loads) => {
  const far = await engine();
  const router = await start({ OTEL_EXPORTER_OTLP_ENDPOINT, NODE_DEBUG: "module" }, far.url);
  await run(router, "far");
  await router.stop();

  expect(router.stderr.includes("@opentelemetry/sdk-trace")).toBe(loads);
});
