// A server shaped like vLLM's, for a container without anything but node: it "loads", holds the one GPU while it lives,
// answers, and misbehaves on demand. The knobs are its environment.
//
//   LOAD_SECONDS      how long a load takes (0.2)
//   GPU_LOCK          path of a socket on a shared volume: whoever listens there has the GPU; a second one is an overlap
//   IGNORE_SIGTERM    1: only SIGKILL ends it
//   STOP_SECONDS      how long it takes to end after SIGTERM (0)
//   EXIT_AT_LOAD      exit code with which it ends in mid-load
//   OOM_AT            "load" or "request": takes memory until it is killed
//   NEVER_HEALTHY     1: /health is 503 for ever
//   NO_TOKENS         1: healthy, but no request is answered

import { appendFileSync, unlinkSync } from "node:fs";
import { createServer } from "node:http";
import { connect, createServer as createSocketServer } from "node:net";

const env = process.env;
const seconds = (name, otherwise) => Number(env[name] ?? otherwise) * 1000;
const say = (text) => process.stderr.write(`INFO ${text}\n`);

const args = process.argv.slice(2);
const served = [];
let port = 8000;
for (let i = 0; i < args.length; i++) {
  if (args[i] === "--port") port = Number(args[++i]);
  if (args[i] === "--served-model-name")
    while (args[i + 1] !== undefined && !args[i + 1].startsWith("--")) served.push(args[++i]);
}

let healthy = false;
let running = 0;

process.on("SIGTERM", () => {
  if (env.IGNORE_SIGTERM === "1") return say("SIGTERM ignored");
  say("shutting down");
  setTimeout(() => process.exit(0), seconds("STOP_SECONDS", 0));
});

/** The GPU is whoever listens on the socket; it is free as soon as its process is dead, however that died. */
function takeGpu(path) {
  return new Promise((resolve) => {
    const holder = createSocketServer((socket) => socket.end());
    holder.once("listening", resolve);
    holder.once("error", () => {
      const other = connect(path);
      other.once("connect", () => {
        appendFileSync(`${path}.overlaps`, `${served[0]}\n`);
        say("CUDA out of memory: another model is on the GPU");
        process.exit(99);
      });
      other.once("error", () => {
        try {
          unlinkSync(path);
        } catch {
          // Another one was faster.
        }
        void takeGpu(path).then(resolve);
      });
    });
    holder.listen(path);
    holder.unref();
  });
}

async function eatMemory() {
  const eaten = [];
  for (;;) {
    eaten.push(Buffer.alloc(16 * 1024 * 1024, eaten.length + 1));
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

async function load() {
  say(`vLLM API server version 0.0.0-test, serving ${served.join(", ")}`);
  if (env.GPU_LOCK !== undefined) await takeGpu(env.GPU_LOCK);
  const stepMs = seconds("LOAD_SECONDS", 0.2) / 4;
  for (let shard = 1; shard <= 4; shard++) {
    await new Promise((resolve) => setTimeout(resolve, stepMs));
    process.stderr.write(`\rLoading safetensors checkpoint shards:  ${shard * 25}% Completed | ${shard}/4`);
    if (env.EXIT_AT_LOAD !== undefined && shard === 2) {
      process.stderr.write("\n");
      say("RuntimeError: Engine core initialization failed. See root cause above.");
      process.exit(Number(env.EXIT_AT_LOAD));
    }
    if (env.OOM_AT === "load" && shard === 2) await eatMemory();
  }
  process.stderr.write("\n");
  healthy = env.NEVER_HEALTHY !== "1";
  say("Application startup complete.");
}

const json = (response, status, value) => {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(value));
};

async function complete(request, response) {
  let text = "";
  for await (const chunk of request) text += chunk;
  const body = JSON.parse(text);
  if (env.NO_TOKENS === "1") return;
  if (!served.includes(body.model))
    return json(response, 404, { error: { message: `The model ${body.model} does not exist.` } });
  if (request.url === "/v1/chat/completions" && !Array.isArray(body.messages)) {
    return json(response, 400, { error: { message: "messages: Field required" } });
  }
  if (env.OOM_AT === "request" && body.max_tokens !== 1) await eatMemory();
  running++;
  response.once("close", () => running--);
  const tokens = body.max_tokens ?? 4;
  const waitMs = body.seed ?? 0;
  if (body.stream === true) {
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (let i = 0; i < tokens && !response.destroyed; i++) {
      response.write(
        `data: ${JSON.stringify({ model: body.model, choices: [{ index: 0, delta: { content: `t${i} ` } }] })}\n\n`,
      );
      await new Promise((resolve) => setTimeout(resolve, waitMs));
    }
    return response.end("data: [DONE]\n\n");
  }
  await new Promise((resolve) => setTimeout(resolve, waitMs * tokens));
  const content = Array.from({ length: tokens }, (_, i) => `t${i}`).join(" ");
  json(response, 200, {
    model: body.model,
    host: env.HOSTNAME,
    choices: [{ index: 0, message: { role: "assistant", content } }],
  });
}

createServer((request, response) => {
  if (request.url === "/health") return response.writeHead(healthy ? 200 : 503).end();
  if (!healthy) return json(response, 503, { error: { message: "loading" } });
  if (request.url === "/v1/models")
    return json(response, 200, { object: "list", data: served.map((id) => ({ id, object: "model" })) });
  if (request.url === "/metrics")
    return response.end(`vllm:num_requests_running{model_name="${served[0]}"} ${running}\n`);
  if (request.method === "POST") return void complete(request, response).catch(() => response.destroy());
  response.writeHead(404).end();
}).listen(port, "0.0.0.0");

void load();
