// What each key can find out, over every route that the router has: another caller's ids, name, request and answer are
// looked for in everything that answers. A route that is added is covered by being in the OpenAPI document.

import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Router, startRouter } from "../../src/assemble.ts";
import { resolveConfig } from "../../src/config/load.ts";
import { createLog } from "../../src/observe/log.ts";

const CALLER = "annabella";
const OPERATOR = "odalisque";
const QUESTION = "zebra-question";
const METADATA = "zebra-metadata";
const SCOPES = {
  [CALLER]: ["submit"],
  bob: ["submit"],
  eve: ["observe"],
  [OPERATOR]: ["submit", "operate"],
} as const;

const folder = mkdtempSync(join(tmpdir(), "sir-scopes-"));
const keyOf = (name: string): string => `sir_${name}_key`;
const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");
const ids: string[] = [];
let router: Router;
let answerText = "";

beforeAll(async () => {
  const backend = { driver: "mock", loadSeconds: 0.05, unloadSeconds: 0.01, tokensPerSecond: 1_000 };
  const keys = Object.entries(SCOPES).map(([name, scopes]) => [name, { sha256: sha256(keyOf(name)), scopes }] as const);
  const document = {
    server: { port: 0 },
    store: { url: `sqlite:${folder}/sir.db` },
    keys: Object.fromEntries(keys),
    models: { chat: { loadSeconds: 0.05, backend }, code: { loadSeconds: 0.05, backend } },
  };
  const config = resolveConfig(document, { file: null, baseDir: folder, cwd: folder, overrides: [] });
  router = await startRouter(config, { log: createLog({ level: "silent" }), version: "0.0.0" });
  await annsDay();
}, 60_000);

afterAll(async () => {
  await router?.close();
  rmSync(folder, { recursive: true });
});

function ask(name: string | null, method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
  const key: Record<string, string> = name === null ? {} : { authorization: `Bearer ${keyOf(name)}` };
  const form = body instanceof FormData;
  const json: Record<string, string> = body === undefined || form ? {} : { "content-type": "application/json" };
  const sent = body === undefined ? {} : { body: form ? body : JSON.stringify(body) };
  const signal = AbortSignal.timeout(20_000);
  return fetch(router.url + path, { method, headers: { ...key, ...json, ...headers }, ...sent, signal });
}

async function idOf(response: Promise<Response>): Promise<string> {
  const { id } = (await (await response).json()) as { id: string };
  expect(id).toMatch(/^[a-z]+[_-][0-9a-f]{32}$/);
  ids.push(id);
  return id;
}

/** A job that is done, one that waits, a background response, a file, a batch and a hint, all of one caller. */
async function annsDay(): Promise<void> {
  const messages = [{ role: "user", content: QUESTION }];
  const chat = { model: "chat", messages, max_tokens: 20, metadata: { note: METADATA } };
  const later = { prefer: "respond-async" };
  const done = await idOf(ask(CALLER, "POST", "/v1/chat/completions", chat, later));
  answerText = await (await ask(CALLER, "GET", `/v1/jobs/${done}/result?wait=20`)).text();
  expect(answerText).toContain("choices");
  const background = { model: "code", input: QUESTION, background: true, metadata: { note: METADATA } };
  await idOf(ask(CALLER, "POST", "/v1/responses", background));
  await ask(OPERATOR, "POST", "/admin/pause", { note: "look" });
  await idOf(ask(CALLER, "POST", "/v1/chat/completions", { ...chat, model: "code" }, later));
  const form = new FormData();
  const line = { custom_id: "x", method: "POST", url: "/v1/chat/completions", body: { ...chat, model: "chat" } };
  form.set("purpose", "batch");
  form.set("file", new Blob([`${JSON.stringify(line)}\n`]), "zebra-file.jsonl");
  const file = await idOf(ask(CALLER, "POST", "/v1/files", form));
  const batch = { input_file_id: file, endpoint: "/v1/chat/completions", completion_window: "24h" };
  await idOf(ask(CALLER, "POST", "/v1/batches", batch));
  await idOf(ask(CALLER, "POST", "/v1/hints", { model: "code", in: "1h" }));
  await ask(OPERATOR, "POST", "/admin/resume", {});
  await ask(OPERATOR, "POST", "/admin/pause?device=gpu0", { note: "a new fan" });
  await ask(OPERATOR, "POST", "/admin/models/code/drain", {});
  await new Promise((resolve) => setTimeout(resolve, 2_500));
}

interface ApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

/** Every address that can be read: once for each of ann's ids where the path has one. */
async function readable(): Promise<string[]> {
  const { paths } = (await (await ask(null, "GET", "/openapi.json")).json()) as ApiDocument;
  const parts = ["jobs", "loads", "moves", "pauses", "span", "setups"];
  return Object.entries(paths)
    .filter(([, methods]) => "get" in methods)
    .flatMap(([path]) => {
      if (path.includes("{part}")) return parts.map((part) => path.replace("{part}", part));
      if (path.includes("/models/")) return [path.replace("{id}", "chat")];
      return path.includes("{id}") ? ids.map((id) => path.replace("{id}", id)) : [path];
    })
    .flatMap((path) =>
      /\/jobs$/.test(path) ? [path, `${path}?view=rows`, `${path}?view=rows&caller=${CALLER}`] : [path],
    )
    .flatMap((path) => (/\/decisions$/.test(path) ? [path, `${path}?limit=100`] : [path]));
}

/** All of an answer, or what came of a stream that has no end within half a second. */
async function textOf(name: string, path: string): Promise<string> {
  const response = await ask(name, "GET", path);
  const stream = /event-stream/.test(response.headers.get("content-type") ?? "");
  if (!stream || response.body === null) return response.text();
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  const end = new Promise<null>((resolve) => setTimeout(() => resolve(null), 1_500));
  for (;;) {
    const next = await Promise.race([reader.read(), end]);
    if (next === null || next.done) break;
    text += decoder.decode(next.value, { stream: true });
  }
  await reader.cancel();
  return text;
}

describe("over every route that can be read", () => {
  it("a caller who may only submit finds nothing of another's: no id, no name, no word", async () => {
    const addresses = await readable();
    const found: string[] = [];
    for (const path of addresses) {
      const text = await textOf("bob", path);
      const asked = ids.filter((id) => path.includes(id));
      const leaks = [...ids.filter((id) => !asked.includes(id)), CALLER, OPERATOR, QUESTION, METADATA, "zebra-file"];
      for (const leak of leaks) if (text.includes(leak) && !path.includes(leak)) found.push(`${path}: ${leak}`);
      if (asked.length > 0 && !/"code":"(\w+_not_found|scope_missing)"/.test(text))
        found.push(`${path}: ${text.slice(0, 80)}`);
    }

    expect(addresses.length).toBeGreaterThan(40);
    expect(found).toEqual([]);
  }, 120_000);

  it("an observer and an operator find jobs and names, but no request and no answer of others", async () => {
    const addresses = await readable();
    for (const name of ["eve", OPERATOR]) {
      let all = "";
      const found: string[] = [];
      for (const path of addresses) {
        const text = await textOf(name, path);
        all += text;
        for (const leak of [QUESTION, "zebra-file", answerText.slice(0, 60)]) {
          if (text.includes(leak)) found.push(`${path}: ${leak}`);
        }
      }

      expect([name, found]).toEqual([name, []]);
      expect(all).toContain(ids[0]);
      expect(all).toContain(CALLER);
    }
  }, 120_000);

  it("who may only submit sees in the stream that the router is at work, and of others no job", async () => {
    const streams = ["bob", "eve", CALLER].map((name) => textOf(name, "/v1/stream"));
    const chat = { model: "code", messages: [{ role: "user", content: QUESTION }], max_tokens: 5 };
    const id = await idOf(ask(CALLER, "POST", "/v1/chat/completions", chat, { prefer: "respond-async" }));
    await ask(OPERATOR, "POST", "/admin/pause", { note: "once more" });
    const [bob = "", eve = "", own = ""] = await Promise.all(streams);
    await ask(OPERATOR, "POST", "/admin/resume", {});

    expect(bob).toContain("event: delta");
    expect([eve, bob].map((text) => [text.includes("once more"), text.includes(OPERATOR)])).toEqual([
      [true, true],
      [true, false],
    ]);
    expect([bob.includes(id), bob.includes(CALLER), eve.includes(id), own.includes(id)]).toEqual([
      false,
      false,
      true,
      true,
    ]);
  }, 60_000);

  it("nobody without a key gets more than what is open", async () => {
    const open: string[] = [];
    for (const path of await readable()) {
      const response = await ask(null, "GET", path);
      await response.body?.cancel();
      if (response.status !== 401) open.push(path);
    }

    expect(open.sort()).toEqual(["/docs", "/healthz", "/openapi.json", "/readyz"]);
  }, 60_000);
});

describe("over every route that acts", () => {
  it("nobody without a key, and nobody without the scope, gets past the door", async () => {
    const { paths } = (await (await ask(null, "GET", "/openapi.json")).json()) as ApiDocument;
    const acts = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods)
        .filter((method) => method === "post" || method === "delete")
        .map((method) => [method.toUpperCase(), path.replace("{id}", ids[0] ?? "").replace("{part}", "jobs")] as const),
    );
    const past: string[] = [];
    for (const [method, path] of acts) {
      const stranger = await ask(null, method, path, {});
      if (stranger.status !== 401) past.push(`stranger ${method} ${path}: ${stranger.status}`);
      const observer = await ask("eve", method, path, {});
      const reads = /\/result$|\/v1\/replays/.test(path);
      if (observer.status !== 403 && !reads) past.push(`eve ${method} ${path}: ${observer.status}`);
      if (!path.startsWith("/admin")) continue;
      const caller = await ask("bob", method, path, {});
      if (caller.status !== 403) past.push(`bob ${method} ${path}: ${caller.status}`);
    }

    expect(acts.length).toBeGreaterThan(30);
    expect(past).toEqual([]);
  }, 60_000);
});
