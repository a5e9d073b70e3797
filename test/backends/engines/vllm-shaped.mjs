// A small server in the shape of vLLM, for tests that need a real process. It is run as
//   node vllm-shaped.mjs PORT MODEL '{"loadMs":50}'
// and its knobs say what goes wrong. It holds a lock file while it has the "GPU", so that an overlap is seen.

import { spawn } from "node:child_process";
import { closeSync, existsSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";

const [, , port, model, knobText = "{}"] = process.argv;
const knobs = { loadMs: 0, tokenMs: 5, ...JSON.parse(knobText) };
/** A knob that is read anew each time: the engine is mended, or breaks, while the test runs. */
const switchedOn = (path) => typeof path === "string" && existsSync(path);

let healthy = false;
let sleeping = false;
const calls = [];
const say = (text) => process.stdout.write(`${text}\n`);

function takeGpu() {
  if (knobs.gpu === undefined) return;
  try {
    const file = openSync(knobs.gpu, "wx");
    writeFileSync(file, String(process.pid));
    closeSync(file);
  } catch {
    const holder = Number(readFileSync(knobs.gpu, "utf8"));
    if (runs(holder) && holder !== process.pid) {
      writeFileSync(`${knobs.gpu}.overlap`, `${model} met ${holder}`);
      process.stderr.write("RuntimeError: CUDA out of memory: another model is loaded\n", () => process.exit(3));
      return;
    }
    writeFileSync(knobs.gpu, String(process.pid));
  }
}

function runs(pid) {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, "latin1"));
  } catch {
    return false;
  }
}

function freeGpu() {
  if (knobs.gpu !== undefined && existsSync(knobs.gpu)) rmSync(knobs.gpu, { force: true });
}

const json = (response, status, value) => {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
};

async function complete(request, response, url) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const body = JSON.parse(Buffer.concat(chunks).toString());
  if (sleeping) return; // Stuck behind the pause.
  if (body.top_k === -5) return json(response, 400, { error: { message: "top_k must be positive", code: 400 } });
  if (switchedOn(knobs.brokenFile)) return json(response, 500, { error: { message: "EngineDeadError" } });
  const count = body.max_tokens ?? 4;
  if (!body.stream) {
    await new Promise((resolve) => setTimeout(resolve, knobs.tokenMs * count));
    const choice = url.startsWith("/v1/chat") ? { message: { role: "assistant", content: "x" } } : { text: "x" };
    return json(response, 200, { id: "c", model, pid: process.pid, choices: [{ index: 0, ...choice }] });
  }
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (let i = 0; i < count && !response.destroyed; i++) {
    response.write(`data: {"choices":[{"delta":{"content":"x"}}]}\n\n`);
    await new Promise((resolve) => setTimeout(resolve, knobs.tokenMs));
  }
  response.end("data: [DONE]\n\n");
}

function dev(path, query, response) {
  if (path === "/calls") return json(response, 200, calls);
  if (knobs.noVerbs) return json(response, 404, { detail: "Not Found" });
  if (path === "/is_sleeping") return json(response, 200, { is_sleeping: sleeping });
  if (path === "/sleep") {
    if (knobs.sleep === "never answers") return;
    if (knobs.sleep === "refuses") return json(response, 500, { error: { message: "cumem failed" } });
    if (knobs.sleep === "lies") return json(response, 200, {});
    sleeping = true;
    freeGpu();
    json(response, 200, {});
    if (knobs.sleep === "dies") setImmediate(() => process.kill(process.pid, "SIGKILL"));
    return;
  }
  if (path === "/wake_up") {
    if (switchedOn(knobs.wakeFailsFile)) return json(response, 500, { error: { message: "cuMemMap failed" } });
    const tags = new URLSearchParams(query).getAll("tags");
    if (tags.length === 0 || tags.includes("weights")) takeGpu();
    if (tags.length === 0 || tags.includes("kv_cache")) sleeping = false;
    return json(response, 200, {});
  }
  if (path === "/collective_rpc" || path === "/reset_prefix_cache") return json(response, 200, {});
  return json(response, 404, { detail: "Not Found" });
}

const server = createServer((request, response) => {
  const [path = "", query = ""] = (request.url ?? "").split("?");
  if (path === "/health") return response.writeHead(healthy ? 200 : 503).end();
  if (path === "/v1/models") return json(response, 200, { object: "list", data: [{ id: model, object: "model" }] });
  if (path === "/v1/completions" || path === "/v1/chat/completions") return void complete(request, response, path);
  if (path !== "/calls" && path !== "/is_sleeping") calls.push(request.url);
  return dev(path, query, response);
});

if (knobs.ignoreTerm) process.on("SIGTERM", () => say("SIGTERM ignored"));
else {
  process.on("SIGTERM", () => {
    say("shutting down");
    freeGpu();
    process.exit(0);
  });
}
if (knobs.grandchild !== undefined) {
  const away = knobs.grandchild !== "session";
  // `session`: stays in the session. `marked`: leaves it, keeps its environment. It ignores SIGTERM either way.
  spawn("sh", ["-c", 'trap "" TERM; sleep 600 & wait; sleep 600'], { detached: away, stdio: "ignore" }).unref();
}
if (knobs.startsFile !== undefined) writeFileSync(knobs.startsFile, `${process.pid}\n`, { flag: "a" });
say(`INFO loading ${model} with key ${process.env.HF_TOKEN ?? "none"}`);
say("Loading safetensors checkpoint shards:  50% Completed | 1/2");
if (knobs.exitCode !== undefined && !switchedOn(knobs.mendedFile)) {
  process.stderr.write("ValueError: no such checkpoint\n", () => setTimeout(() => process.exit(knobs.exitCode), 20));
} else {
  takeGpu();
  server.listen(Number(port), "127.0.0.1", () => {
    setTimeout(() => {
      healthy = knobs.neverHealthy !== true;
      say(healthy ? "Application startup complete." : "still compiling");
    }, knobs.loadMs);
  });
}
