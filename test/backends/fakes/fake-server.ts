// What the fake engines have in common: a real HTTP server on loopback, a record of what it was asked, models with a
// state, OpenAI's answers for those that are loaded, and knobs for what goes wrong.

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import { bodyOf } from "../upstream.ts";

export interface Asked {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly body: Record<string, unknown>;
}

export interface Knobs {
  /** Loads wait until this is open again. */
  readonly loads: Gate;
  /** While closed the server takes requests and answers none. */
  readonly answers: Gate;
  /** The second chunk of each stream waits until this is open. */
  readonly streams: Gate;
  /** Each load fails with these words. */
  failLoads: string | null;
  /** An unload is answered, and the model stays. */
  ignoreUnloads: boolean;
  /** So many lists show a model after it was told to go. */
  lingerLists: number;
  /** Inference is answered with this status. */
  inferenceStatus: number | null;
}

export interface FakeModel {
  loaded: boolean;
  loading: boolean;
  /** Lists that still show it. */
  lingering: number;
}

export type Route = (asked: Asked, response: ServerResponse, request: IncomingMessage) => unknown;

export class Gate {
  #open: Promise<void> = Promise.resolve();
  #release: () => void = () => undefined;
  #reached: () => void = () => undefined;

  /** Closes it. Resolves when somebody waits at it. */
  close(): Promise<void> {
    this.#open = new Promise((resolve) => {
      this.#release = resolve;
    });
    return new Promise((resolve) => {
      this.#reached = resolve;
    });
  }

  open(): void {
    this.#release();
  }

  pass(): Promise<void> {
    this.#reached();
    return this.#open;
  }
}

export class FakeServer {
  readonly asked: Asked[] = [];
  readonly models = new Map<string, FakeModel>();
  readonly knobs: Knobs = {
    loads: new Gate(),
    answers: new Gate(),
    streams: new Gate(),
    failLoads: null,
    ignoreUnloads: false,
    lingerLists: 0,
    inferenceStatus: null,
  };
  origin = "";
  #close: () => void = () => undefined;

  constructor(names: readonly string[]) {
    for (const name of names) this.models.set(name, { loaded: false, loading: false, lingering: 0 });
  }

  async listen(route: Route): Promise<this> {
    const server = createServer(async (request, response) => {
      const text = (await bodyOf(request).catch(() => Buffer.alloc(0))).toString();
      const body = text === "" ? {} : parsed(text);
      const asked = { method: request.method ?? "", path: request.url ?? "", body };
      this.asked.push(asked);
      await this.knobs.answers.pass();
      await route(asked, response, request);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
    this.origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    this.#close = () => {
      server.close();
      server.closeAllConnections();
    };
    onTestFinished(() => {
      this.knobs.loads.open();
      this.knobs.answers.open();
      this.knobs.streams.open();
      this.close();
    });
    return this;
  }

  /** The server ends, and with it all that it had loaded. */
  close(): void {
    this.#close();
  }

  model(name: unknown): FakeModel | undefined {
    return typeof name === "string" ? this.models.get(name) : undefined;
  }

  /** As by another client. */
  set(name: string, loaded: boolean): void {
    const model = this.model(name);
    if (model !== undefined) model.loaded = loaded;
  }

  loaded(): string[] {
    return [...this.models].filter(([, model]) => model.loaded || model.loading).map(([name]) => name);
  }

  /** Blocks as a load does. False: it failed. */
  async load(name: string): Promise<boolean> {
    const model = this.model(name);
    if (model === undefined) return false;
    model.loading = true;
    await this.knobs.loads.pass();
    if (!model.loading) return false;
    model.loading = false;
    model.loaded = this.knobs.failLoads === null;
    return model.loaded;
  }

  unload(name: string): void {
    const model = this.model(name);
    if (model === undefined || this.knobs.ignoreUnloads) return;
    if (model.loaded || model.loading) model.lingering = this.knobs.lingerLists;
    model.loaded = false;
    model.loading = false;
  }

  /** What a list shows; each call counts down what lingers. */
  shown(): [string, FakeModel][] {
    return [...this.models].filter(([, model]) => {
      if (model.loaded || model.loading) return true;
      return model.lingering > 0 && model.lingering-- > 0;
    });
  }

  calls(method: string, path: string): Asked[] {
    return this.asked.filter((each) => each.method === method && each.path.split("?")[0] === path);
  }

  /** `/v1/…` for a model that is loaded. */
  async infer(asked: Asked, response: ServerResponse): Promise<void> {
    if (this.knobs.inferenceStatus !== null) {
      json(response, this.knobs.inferenceStatus, { error: { message: "as the knob says" } });
      return;
    }
    if (asked.path.startsWith("/v1/chat") && !Array.isArray(asked.body["messages"])) {
      json(response, 400, { error: { message: "messages are missing" } });
      return;
    }
    if (asked.body["stream"] !== true) {
      json(response, 200, { choices: [{ message: { content: "hello" } }] });
      return;
    }
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write('data: {"choices":[]}\n\n');
    await this.knobs.streams.pass();
    response.end("data: [DONE]\n\n");
  }
}

export function json(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}

export function plain(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { "content-type": "text/plain" });
  response.end(text);
}

function parsed(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}
