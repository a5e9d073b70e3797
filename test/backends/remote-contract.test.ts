// The remote driver keeps the contract of every backend, in front of a real server.

import { SystemClock } from "../../src/system/clock.ts";
import { exerciseBackend } from "./contract.ts";
import { callOf, chatBody, placementOf } from "./samples.ts";
import { bodyOf, httpUpstream, remoteAt } from "./upstream.ts";

exerciseBackend(async () => {
  let arrived = (): void => {};
  const midway = new Promise<void>((resolve) => {
    arrived = resolve;
  });
  const origin = await httpUpstream(async (request, response) => {
    const body = (await bodyOf(request)).toString();
    response.setHeader("content-type", "application/json");
    if (request.url === "/v1/models") return response.end('{"data":[]}');
    if (!body.includes("messages")) return response.writeHead(400).end('{"error":{"message":"no messages"}}');
    if (!body.includes('"stream":true')) return response.end('{"id":"x"}');
    response.setHeader("content-type", "text/event-stream");
    response.write('data: {"choices":[]}\n\n', arrived);
    return setTimeout(() => response.end("data: [DONE]\n\n"), 50);
  });
  return {
    backend: remoteAt(origin, {}, new SystemClock()),
    placement: placementOf("chat-model"),
    call: () => callOf("/v1/chat/completions", chatBody()),
    streamed: () => callOf("/v1/chat/completions", chatBody({ stream: true })),
    refused: () => callOf("/v1/chat/completions", {}),
    passing: (promise) => promise,
    midway: () => midway,
  };
});
