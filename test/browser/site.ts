// The built router with quick mock engines, and what tests ask of it beside the page.

import { createServer } from "node:net";
import type { DecisionList, Receipt } from "../../src/client/wire.ts";
import type { StatusWire } from "../../src/client/wire-status.ts";
import { type RouterProcess, serve, tempFolder } from "../e2e/process.ts";

interface MockModel {
  readonly label?: string;
  readonly memoryGiB?: number;
  readonly concurrency?: number;
  readonly loadSeconds?: number;
  readonly tokensPerSecond?: number;
  readonly failLoads?: number;
  readonly device?: string;
}

/** A model of the mock driver: loads in 0.4 s, answers 8 tokens in 0.2 s, unless told otherwise. */
export function mockModel(options: MockModel = {}): object {
  const {
    label,
    memoryGiB = 40,
    concurrency = 4,
    loadSeconds = 0.4,
    tokensPerSecond = 80,
    failLoads = 0,
    device,
  } = options;
  return {
    ...(label === undefined ? {} : { label, aliases: [label] }),
    ...(device === undefined ? {} : { device }),
    concurrency,
    memoryGiB,
    loadSeconds: Math.max(1, loadSeconds),
    backend: {
      driver: "mock",
      loadSeconds,
      unloadSeconds: 0.1,
      firstTokenSeconds: 0.1,
      tokensPerSecond,
      defaultMaxTokens: 8,
      failLoads,
    },
  };
}

/** Two models that do not fit together on one card. */
export const TWO_MODELS = {
  scheduler: { minResidencySeconds: 1, maxWaitSeconds: 20 },
  devices: { gpu0: { memoryGiB: 60 } },
  models: { "org/chat-8b": mockModel({ label: "chat" }), "org/code-30b": mockModel({ label: "code" }) },
};

export interface Site {
  readonly router: RouterProcess;
  /** Of the page, with the slash. */
  readonly page: string;
  get<T>(path: string): Promise<T>;
  post<T>(path: string, body?: unknown): Promise<T>;
  status(): Promise<StatusWire>;
  decisions(): Promise<DecisionList>;
  /** Accepted at once. @returns its receipt. */
  submit(model: string, more?: Readonly<Record<string, unknown>>, headers?: HeadersInit): Promise<Receipt>;
  job(id: string): Promise<Receipt>;
}

export async function startSite(config: object = TWO_MODELS, folder = tempFolder(), key?: string): Promise<Site> {
  return siteOf(await serve({ config, folder }), key);
}

export function siteOf(router: RouterProcess, key?: string): Site {
  const own = key === undefined ? {} : { authorization: `Bearer ${key}` };
  const ask = async <T>(path: string, init: RequestInit = {}): Promise<T> => {
    const headers = { ...own, ...Object.fromEntries(new Headers(init.headers)) };
    const response = await fetch(`${router.origin}${path}`, { ...init, headers });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as T;
  };
  const post = <T>(path: string, body?: unknown, headers: HeadersInit = {}): Promise<T> =>
    ask(path, {
      method: "POST",
      headers: { "content-type": "application/json", ...Object.fromEntries(new Headers(headers)) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  return {
    router,
    page: `${router.origin}/dashboard/`,
    get: ask,
    post,
    status: () => ask("/v1/status"),
    decisions: () => ask("/v1/decisions?limit=100"),
    job: (id) => ask(`/v1/jobs/${id}`),
    submit: (model, more = {}, headers = {}) =>
      post(
        "/v1/chat/completions",
        { model, messages: [{ role: "user", content: "hello" }], ...more },
        { prefer: "respond-async", ...Object.fromEntries(new Headers(headers)) },
      ),
  };
}

/** One that is free now, for a router that has to come back at the same address. */
export function freePort(): Promise<number> {
  const server = createServer();
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
    });
  });
}
