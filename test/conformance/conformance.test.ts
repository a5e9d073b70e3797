// Real clients against the built router, each as a process of its own. All of it runs side by side, because most of it is
// waiting: the longest wait is ten minutes.

import { afterAll, beforeAll, describe, expect, inject, it, vi } from "vitest";
import { first, isSubmit, startProxy } from "../client/fault-proxy.ts";
import { eventually, pause, type RouterProcess, serve, tempFolder } from "../e2e/process.ts";
import { ask } from "../e2e/wire.ts";
import { CLIENTS, type Client, type Feature } from "./clients.ts";
import { type PlainServer, startPlainServer } from "./engine.ts";
import { type Command, type Outcome, Program } from "./program.ts";
import { type Receiver, startReceiver } from "./receiver.ts";

vi.setConfig({ testTimeout: 120_000 });
const LONG = { timeout: 840_000 };
const VECTOR = [0.5, -1, 2];

const installed = inject("installed");
let engine: PlainServer;
let receiver: Receiver;
let router: RouterProcess;

beforeAll(async () => {
  engine = await startPlainServer();
  receiver = await startReceiver();
  const { url, secret } = receiver;
  const backend = { driver: "remote", baseUrl: `${engine.origin}/v1` };
  const webhooks = [{ url, secret, events: ["response.*"], allowPrivate: true }];
  const config = { jobs: { maxAttempts: 1 }, webhooks, models: { m: { concurrency: 1_000, backend } } };
  router = await serve({ config, folder: tempFolder() });
});

afterAll(() => {
  engine.close();
  receiver.close();
});

let tags = 0;
/** Tells a request from all others, at the engine and in its answer. */
const newTag = (): string => {
  tags += 1;
  return `t${tags}`;
};

const returned = ({ value, error }: Outcome): unknown => {
  if (error !== undefined) throw new Error(`the client threw ${error.kind}: ${error.message}`);
  return value;
};

describe.each(CLIENTS.map((client) => ({ client, title: client.title })))("$title", ({ client }) => {
  const interpreter = client.interpreter(installed);
  const test = it.skipIf(interpreter === undefined);
  const testIf = (claimed: boolean) => it.skipIf(interpreter === undefined || !claimed);
  let program: Program;

  beforeAll(() => {
    if (interpreter !== undefined) program = new Program(interpreter, client.program);
  });
  afterAll(() => program?.end());

  /** Through the router, unless told otherwise. */
  const run = (scene: string, prompt: string, over: Partial<Command> = {}, until?: Promise<unknown>) =>
    program.run({ scene, prompt, baseURL: `${router.origin}/v1`, ...over }, until);

  const claimed = (feature: Feature, claim: string) => client.claims[feature] === claim;
  const ways = client.line === null ? ["unchanged"] : ["unchanged", "with the one line"];

  describe.each(ways)("%s", (way) => {
    const line = way !== "unchanged";

    describe.each(["router", "plain server"])("before a %s", (server) => {
      const over = (): Partial<Command> => (server === "router" ? { line } : { line, baseURL: `${engine.origin}/v1` });

      test("gets an answer", async () => {
        const tag = newTag();

        expect(returned(await run("plain", `tag=${tag}`, over()))).toBe(`echo ${tag}`);
        expect(engine.trace(tag)).toEqual({ requests: 1, cut: 0 });
      });

      test("gets a stream", async () => {
        const tag = newTag();

        expect(returned(await run("stream", `tag=${tag} wait=1`, over()))).toBe(`echo ${tag}`);
        expect(engine.trace(tag).requests).toBe(1);
      });

      test("gets a tool call", async () => {
        expect(returned(await run("tools", `tag=${newTag()}`, over()))).toEqual({ name: "weather", city: "Köln" });
      });

      test("gets an embedding", async () => {
        expect(returned(await run("embeddings", `tag=${newTag()}`, over()))).toEqual(VECTOR);
      });

      test("throws the class of a refusal, after one request", async () => {
        const tag = newTag();

        const { error } = await run("plain", `tag=${tag} status=400`, over());

        expect([error?.kind, error?.status]).toEqual([client.errors[0], 400]);
        expect(error?.message).toContain("it asked for 400");
        expect(engine.trace(tag).requests).toBe(1);
      });

      test("frees the engine when it is aborted", async () => {
        const tag = newTag();

        const asked = eventually(() => expect(engine.trace(tag).requests).toBe(1), 90_000);
        // A job runs before its client has the receipt, and without it cannot cancel: then the lease has to.
        const settled = asked.then(() => pause(5_000));

        const { error } = await run("abort", `tag=${tag} wait=100`, over(), settled);

        expect(error?.kind).toBe(client.aborted);
        await eventually(() => expect(engine.trace(tag)).toEqual({ requests: 1, cut: 1 }), 30_000);
      });
    });

    test("throws the class of a model that is not there", async () => {
      const { error } = await run("plain", `tag=${newTag()}`, { line, model: "n" });

      expect([error?.kind, error?.status]).toEqual([client.errors[1], 404]);
    });

    test("throws the class of an engine's failure", async () => {
      const tag = newTag();

      const { error } = await run("plain", `tag=${tag} status=500`, { line, options: client.onceOnly });

      expect([error?.kind, error?.status]).toEqual([client.errors[2], 502]);
      expect(engine.trace(tag).requests).toBe(1);
    });

    test("comes back to a router that was overloaded", async () => {
      const tag = newTag();
      const proxy = await startProxy(router.origin);
      const error = { message: "the queue is full", type: "server_error", param: null, code: "queue_full" };
      const headers = { "content-type": "application/json", "retry-after": "1" };
      proxy.fate = first(2, { status: 503, headers, body: JSON.stringify({ error }) }, isSubmit);

      const outcome = await run("plain", `tag=${tag}`, { line, baseURL: `${proxy.origin}/v1` });

      expect(returned(outcome)).toBe(`echo ${tag}`);
      expect(engine.trace(tag).requests).toBe(1);
    });
  });

  testIf(claimed("own timeout", "unchanged"))(
    "costs one run when its own timeout makes it come back",
    LONG,
    async () => {
      const tag = newTag();

      const outcome = await run("plain", `tag=${tag} wait=45`, { options: client.impatient ?? {} });

      expect(returned(outcome)).toBe(`echo ${tag}`);
      expect(engine.trace(tag)).toEqual({ requests: 1, cut: 0 });
    },
  );

  test("waits six minutes, unchanged", LONG, async () => {
    const tag = newTag();

    expect(returned(await run("plain", `tag=${tag} wait=360`))).toBe(`echo ${tag}`);
    expect(engine.trace(tag)).toEqual({ requests: 1, cut: 0 });
  });

  test("waits ten minutes, with the one line where there is one", LONG, async () => {
    const tag = newTag();
    const line = claimed("10 minutes", "line");

    expect(returned(await run("plain", `tag=${tag} wait=600`, { line }))).toBe(`echo ${tag}`);
    expect(engine.trace(tag)).toEqual({ requests: 1, cut: 0 });
  });

  const background = testIf(claimed("background", "unchanged"));

  background("runs a response in the background", async () => {
    const tag = newTag();

    const value = returned(await run("background", `tag=${tag} wait=2`));

    expect(value).toMatchObject({ status: "completed", text: `echo ${tag}` });
    expect(["queued", "in_progress"]).toContain((value as { first: string }).first);
  });

  background("cancels and deletes a background response", async () => {
    const value = returned(await run("background cancel", `tag=${newTag()} wait=60`));

    expect(value).toEqual({ once: "cancelled", twice: "cancelled", gone: 404 });
  });

  background("streams a background response, and takes its stream up again", async () => {
    const tag = newTag();

    const value = returned(await run("background stream", `tag=${tag} wait=1`)) as Record<string, unknown>;

    expect(value).toMatchObject({ first: "response.created", last: "response.completed", text: `echo ${tag}` });
    const numbers = value["numbers"] as number[];
    expect(numbers).toEqual(numbers.map((_, index) => index));
    expect(value["rest"]).toEqual(numbers.slice(2));
  });

  testIf(claimed("webhooks", "unchanged"))("reads a webhook about its response, and refuses a forged one", async () => {
    const { id } = returned(await run("background", `tag=${newTag()}`)) as { id: string };
    const came = await eventually(() => receiver.about(id) ?? Promise.reject(new Error("no webhook yet")), 60_000);
    const { secret } = receiver;

    const event = await run("webhook", "", { ...came, secret });
    const forged = await run("webhook", "", { ...came, secret, body: came.body.replace(id, `${id}0`) });

    expect(returned(event)).toEqual({ type: "response.completed", id });
    expect(forged.error?.kind).toBe("InvalidWebhookSignatureError");
  });

  testIf(claimed("batches", "unchanged"))("uploads a batch and reads its results", async () => {
    const names = [newTag(), newTag(), newTag()];
    const lineOf = (model: string, tag: string): string => {
      const body = { model, messages: [{ role: "user", content: `tag=${tag}` }] };
      return JSON.stringify({ custom_id: tag, method: "POST", url: "/v1/chat/completions", body });
    };
    const lines = [...names.map((tag) => lineOf("m", tag)), lineOf("n", "bad")].join("\n");

    const value = returned(await run("batch", "", { lines })) as Record<string, string>;

    expect(value).toMatchObject({ status: "completed", counts: { total: 4, completed: 3, failed: 1 }, listed: true });
    for (const tag of names) expect(value["output"]).toContain(`echo ${tag}`);
    expect(value["errors"]).toContain('"custom_id":"bad"');
  });
});

describe.each(["openai2", "openai3"])("%s for Python", (name) => {
  const interpreter = installed.pythons[name] ?? "";
  const test = it.skipIf(interpreter === "");
  let program: Program;

  beforeAll(() => {
    if (interpreter !== "") program = new Program(interpreter, ["openai_python.py"]);
  });
  afterAll(() => program?.end());

  test("says what is wrong to those whose HTTP client follows no redirects", LONG, async () => {
    const prompt = `tag=${newTag()} wait=70`;

    const { error } = await program.run({ scene: "own http client", prompt, baseURL: `${router.origin}/v1` });

    expect(error).toMatchObject({ kind: "APIStatusError", status: 303 });
    expect(error?.message).toMatch(/follow/);
  });

  test("waits as long in its asynchronous form", LONG, async () => {
    const tag = newTag();

    const outcome = await program.run({
      ...{ scene: "plain async", prompt: `tag=${tag} wait=120` },
      baseURL: `${router.origin}/v1`,
    });

    expect(returned(outcome)).toBe(`echo ${tag}`);
  });
});

describe("the clients", () => {
  it("are all here", () => {
    if (installed.missing !== null) console.error(`NOT PROVEN FOR PYTHON'S CLIENTS: ${installed.missing}`);
    const known = CLIENTS.filter((client: Client) => client.interpreter(installed) !== undefined);

    expect(known.length).toBeGreaterThanOrEqual(7);
    expect(engine.trace("none").requests).toBe(0);
  });

  it("leave nothing behind that still runs", async () => {
    await eventually(async () => {
      const { data } = (await ask(router.origin, "/v1/jobs?status=queued&limit=1")).json<{ data: unknown[] }>();
      expect(data).toEqual([]);
    }, 30_000);
  });
});
