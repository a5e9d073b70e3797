// An engine that costs nothing: the same chat completion for everyone, plain or streamed. Says on which port it listens.

import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

const CHUNKS = 16;

const plain = Buffer.from(
  JSON.stringify({
    id: "chatcmpl-0",
    object: "chat.completion",
    created: 0,
    model: "m",
    choices: [{ index: 0, message: { role: "assistant", content: "Yes." }, finish_reason: "stop" }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  }),
);
const event = (delta: object, finish: string | null): string =>
  `data: ${JSON.stringify({
    id: "chatcmpl-0",
    object: "chat.completion.chunk",
    created: 0,
    model: "m",
    choices: [{ index: 0, delta, finish_reason: finish }],
  })}\n\n`;

function stream(response: ServerResponse): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (let n = 0; n < CHUNKS; n++) response.write(event({ content: "Yes " }, null));
  response.end(`${event({}, "stop")}data: [DONE]\n\n`);
}

const server = createServer({ keepAliveTimeout: 120_000 }, (request, response) => {
  const parts: Buffer[] = [];
  request.on("data", (part: Buffer) => parts.push(part));
  request.on("end", () => {
    if (Buffer.concat(parts).includes('"stream":true')) stream(response);
    else response.writeHead(200, { "content-type": "application/json", "content-length": plain.length }).end(plain);
  });
});

server.listen(0, "127.0.0.1", () => process.send?.({ port: (server.address() as AddressInfo).port }));
process.once("disconnect", () => process.exit(0));
