// An Ollama on 11434 and a vLLM on 8000, both at their own default ports, for what a new user does on a machine of their
// own. Loads take a second; answers say who gave them.

import { createServer } from "node:http";

const json = (response, status, value) => {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
};

const answer = (response, model, words) =>
  json(response, 200, {
    object: "chat.completion",
    model,
    choices: [{ index: 0, message: { role: "assistant", content: words } }],
  });

async function bodyOf(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString();
  return text === "" ? {} : JSON.parse(text);
}

const GIB = 1024 ** 3;
const tags = new Map([
  ["qwen3:8b", 4.9 * GIB],
  ["mistral-small:24b", 14.3 * GIB],
]);
const loaded = new Set();

createServer(async (request, response) => {
  const { model, keep_alive: keep } = await bodyOf(request);
  const path = request.url.split("?")[0];
  if (path === "/api/version") return json(response, 200, { version: "0.14.2" });
  if (path === "/api/tags") return json(response, 200, { models: [...tags].map(([name, size]) => ({ name, size })) });
  const running = [...loaded].map((name) => ({
    name,
    size: tags.get(name),
    size_vram: tags.get(name),
    expires_at: "2318-01-01T00:00:00Z",
  }));
  if (path === "/api/ps") return json(response, 200, { models: running });
  if (path === "/api/show") return json(response, 200, { model_info: {} });
  if (path === "/v1/models")
    return json(response, 200, { object: "list", data: [...tags.keys()].map((id) => ({ id, owned_by: "library" })) });
  if (!tags.has(model)) return json(response, 404, { error: `model '${model}' not found` });
  if (keep === 0) {
    loaded.delete(model);
    return json(response, 200, { model, done: true, done_reason: "unload" });
  }
  if (!loaded.has(model)) await new Promise((resolve) => setTimeout(resolve, 1000));
  loaded.add(model);
  if (path.startsWith("/api/")) return json(response, 200, { model, done: true, done_reason: "load" });
  return answer(response, model, `Ollama's ${model} says hello`);
}).listen(11_434, "127.0.0.1");

createServer(async (request, response) => {
  const { model } = await bodyOf(request);
  if (request.url === "/version") return json(response, 200, { version: "0.18.1" });
  if (request.url === "/health") return response.writeHead(200).end();
  const listed = { id: "openai/gpt-oss-20b", object: "model", owned_by: "vllm", max_model_len: 131_072 };
  if (request.url === "/v1/models") return json(response, 200, { object: "list", data: [listed] });
  if (request.url === "/v1/chat/completions") return answer(response, model, "vLLM says hello");
  return json(response, 404, { detail: "Not Found" });
}).listen(8_000, "127.0.0.1", () => console.log("engines are up"));
