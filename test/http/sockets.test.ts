// Real sockets: closes are noticed when they must be and only then; bytes leave as they come; the port goes down in order.

import { createConnection, type Socket } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import type { HttpEnv } from "../../src/http/deps.ts";
import { type Listening, type ListenOptions, listen } from "../../src/http/listen.ts";
import { SystemClock } from "../../src/system/clock.ts";
import { ANSWER, ASK, CHAT, type Given, type GivenOptions, given } from "./given.ts";
import type { ScriptedCall } from "./scripted-backend.ts";

interface Site extends Given {
  readonly listening: Listening;
  /** Node's objects of each request, oldest first. */
  readonly seen: HttpEnv["Bindings"][];
}

async function site(options: GivenOptions = {}, more: Partial<ListenOptions> = {}): Promise<Site> {
  const clock = new SystemClock();
  const world = await given({ clock, ...options });
  const seen: HttpEnv["Bindings"][] = [];
  const fetch = (request: Request, env: HttpEnv["Bindings"]): Response | Promise<Response> => {
    seen.push(env);
    return world.app.fetch(request, env);
  };
  const listening = await listen({ fetch } as typeof world.app, {
    host: "127.0.0.1",
    port: 0,
    clock,
    closing: world.closing,
    ...more,
  });
  onTestFinished(async () => {
    await listening.close();
    await world.engine.close();
    await world.store.close();
  });
  return { ...world, listening, seen };
}

/** A connection of which every byte is seen. */
class Line {
  readonly socket: Socket;
  text = "";
  closed = false;
  #wake: (() => void)[] = [];

  constructor({ listening }: Site) {
    this.socket = createConnection(listening.port, "127.0.0.1");
    this.socket.on("data", (bytes) => this.#changed(() => (this.text += bytes.toString())));
    this.socket.on("close", () => this.#changed(() => (this.closed = true)));
    this.socket.on("error", () => undefined);
    onTestFinished(() => void this.socket.destroy());
  }

  send(body: unknown, headers: Record<string, string> = {}, path = CHAT): this {
    const text = JSON.stringify(body);
    const lines = Object.entries({ host: "sir", "content-type": "application/json", ...headers });
    const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join("");
    this.socket.write(`POST ${path} HTTP/1.1\r\n${head}content-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`);
    return this;
  }

  raw(text: string): this {
    this.socket.write(text);
    return this;
  }

  async until(done: (line: this) => boolean): Promise<string> {
    while (!done(this)) await new Promise<void>((resolve) => this.#wake.push(resolve));
    return this.text;
  }

  #changed(change: () => void): void {
    change();
    for (const wake of this.#wake.splice(0)) wake();
  }
}

function aborted(call: ScriptedCall): Promise<void> {
  if (call.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    call.signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

describe("a socket that closes", () => {
  it.each([
    ["a held answer", ASK],
    ["a stream before its first byte", { ...ASK, stream: true }],
  ])("cancels %s", async (_what, body) => {
    const world = await site();
    const line = new Line(world).send(body);
    const call = await world.backend.next();

    line.socket.destroy();

    await aborted(call);
  });

  it("cancels a stream in the middle", async () => {
    const world = await site();
    const line = new Line(world).send({ ...ASK, stream: true });
    const call = (await world.backend.next()).stream();
    void call.send("data: 1\n\n");
    await line.until(({ text }) => text.includes("data: 1"));

    line.socket.destroy();

    await aborted(call);
  });

  it("is only half closed by a client that has nothing more to send, and noticed as gone", async () => {
    const world = await site();
    const line = new Line(world).send({ ...ASK, stream: true });
    const call = await world.backend.next();

    line.socket.end();

    await aborted(call);
  });

  it("does nothing to a job with a receipt, however early it closes", async () => {
    const world = await site();
    const early = new Line(world).send(ASK, { prefer: "respond-async" });
    await new Promise<void>((resolve) => early.socket.write("", () => resolve()));
    early.socket.resetAndDestroy();
    const late = new Line(world).send(ASK, { prefer: "respond-async" });
    await late.until(({ text }) => text.includes("HTTP/1.1 202"));
    late.socket.destroy();
    const calls = [await world.backend.next()];
    if ((await world.store.jobs({ caller: null, order: "newest", limit: 5 })).data.length === 2) {
      calls.push(await world.backend.next());
    }

    for (const call of calls) call.answer(ANSWER);

    const jobs = await untilFinal(world);
    expect(jobs.map(({ state }) => state.status)).toEqual(calls.map(() => "succeeded"));
    expect(calls.some((call) => call.aborted)).toBe(false);
  });

  it("is no cancel when it closes after the answer", async () => {
    const world = await site();
    const line = new Line(world).send(ASK, { connection: "close" });
    const call = await world.backend.next();
    call.answer(ANSWER);

    const text = await line.until(({ closed }) => closed);

    expect(text).toContain(ANSWER);
    expect(call.aborted).toBe(false);
    expect((await untilFinal(world)).map(({ state }) => state.status)).toEqual(["succeeded"]);
  });
});

describe("a socket that stays", () => {
  it("gets each chunk as it comes, torn where the engine tore it", async () => {
    const world = await site();
    const line = new Line(world).send({ ...ASK, stream: true });
    const call = (await world.backend.next()).stream();
    const bytes = Buffer.from("data: é\n\n");
    for (const [from, to] of [
      [0, 7],
      [7, 8],
      [8, bytes.length],
    ] as const) {
      const before = line.text.length;
      void call.send(bytes.subarray(from, to));
      await line.until(({ text }) => text.length > before);
    }
    call.end();

    const text = await line.until((each) => each.text.endsWith("0\r\n\r\n"));

    expect(text).toContain("Transfer-Encoding: chunked");
    expect(text.toLowerCase()).not.toContain("content-length");
    expect(text.toLowerCase()).not.toContain("content-encoding");
  });

  it("is dropped when it does not take a finished answer", async () => {
    const world = await site({}, { answerStallMs: 50 });
    const line = new Line(world);
    line.socket.pause();
    line.send(ASK);
    const call = await world.backend.next();
    const { outgoing } = world.seen.at(-1) ?? {};
    const closed = new Promise<void>((resolve) => outgoing?.once("close", () => resolve()));
    call.answer(Buffer.alloc(64 * 1024 * 1024, 0x20));

    await closed;

    expect(outgoing?.destroyed).toBe(true);
  });

  it("serves many requests one after the other", async () => {
    const world = await site();
    world.backend.script = (call) => call.answer(ANSWER);
    const line = new Line(world);
    for (let i = 1; i <= 5; i++) {
      line.send(ASK);
      await line.until(({ text }) => text.split(ANSWER).length === i + 1);
    }

    expect(line.closed).toBe(false);
  });

  it("is told that its body is too large while it still sends, and can go on", async () => {
    const world = await site({ bodyLimitBytes: 1000 });
    const line = new Line(world).raw(
      `POST ${CHAT} HTTP/1.1\r\nhost: sir\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n`,
    );
    const chunk = `400\r\n${" ".repeat(1024)}\r\n`;
    line.raw(chunk.repeat(4));

    const text = await line.until((each) => each.text.includes("body_too_large"));

    line.raw(`${chunk.repeat(100)}0\r\n\r\n`).send(ASK);
    (await world.backend.next()).answer(ANSWER);
    const both = await line.until((each) => each.text.includes(ANSWER));

    expect(text).toMatch(/^HTTP\/1\.1 413 /);
    expect(text).toContain("application/json");
    expect(both).toMatch(/HTTP\/1\.1 200 /);
  });

  it.each([
    ["nonsense", "NONSENSE\r\n\r\n"],
    ["headers without end", `GET / HTTP/1.1\r\nhost: sir\r\na: ${"x".repeat(70_000)}\r\n\r\n`],
    ["a host that is none", "GET /healthz HTTP/1.1\r\nhost: a b\r\n\r\n"],
  ])("is told in JSON what was wrong with %s", async (_what, bytes) => {
    const world = await site();

    const text = await new Line(world).raw(bytes).until((each) => each.text.includes("}}"));

    expect(text).toMatch(/^HTTP\/1\.1 400 /);
    expect(text).toContain('"code":"invalid_header"');
  });
});

describe("a port that goes down", () => {
  it("refuses new work, lets running work finish, and closes", async () => {
    const world = await site();
    const running = new Line(world).send(ASK);
    const call = await world.backend.next();
    const idle = new Line(world);
    world.backend.script = null;
    await new Promise<void>((resolve) => idle.socket.once("connect", () => resolve()));

    world.listening.drain();
    idle.send(ASK);
    const refusal = await Promise.race([
      idle.until(({ text, closed }) => closed || text.includes("draining")),
      done(idle),
    ]);
    call.answer(ANSWER);
    const answer = await running.until(({ closed }) => closed);
    await world.listening.close();

    expect(refusal === "" || refusal.includes('"code":"draining"')).toBe(true);
    expect(answer).toContain(ANSWER);
    expect(answer.toLowerCase()).toContain("connection: close");
    await expect(fetch(world.listening.url)).rejects.toThrow();
  });

  it("ends a stream that does not end by itself with an error", async () => {
    const world = await site();
    const line = new Line(world).send({ ...ASK, stream: true });
    const call = (await world.backend.next()).stream();
    void call.send("data: 1\n\n");
    await line.until(({ text }) => text.includes("data: 1"));

    await world.listening.close();
    const text = await line.until(({ closed }) => closed);

    expect(text).toMatch(/had answered this request.*"code":"draining"/);
    expect(text).not.toContain("[DONE]");
  });

  it("says what is wrong when its port is taken", async () => {
    const world = await site();
    const options = { host: "127.0.0.1", port: world.listening.port, clock: new SystemClock(), closing: world.closing };

    await expect(listen(world.app, options)).rejects.toMatchObject({ code: "EADDRINUSE" });
  });
});

async function done(line: Line): Promise<string> {
  await line.until(({ closed }) => closed);
  return line.text;
}

async function untilFinal({ store, engine }: Site) {
  for (;;) {
    const { data } = await store.jobs({ caller: null, order: "newest", limit: 5 });
    const live = data.find(({ state }) => state.status === "queued" || state.status === "running");
    if (live === undefined && data.length > 0) return data;
    if (live !== undefined) await engine.finished(live.id, Number.MAX_SAFE_INTEGER);
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
}
