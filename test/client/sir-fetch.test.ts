import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { sirFetch } from "../../src/client/index.ts";
import type { JobList, Receipt } from "../../src/client/wire.ts";
import { type EngineServer, remoteModels, replyWith, startEngine, streamOf } from "../e2e/engine-server.ts";
import { eventually, pause, type RouterProcess, serve, tempFolder } from "../e2e/process.ts";
import { BAD_REQUEST, PLAIN, STREAM } from "../e2e/recorded-answers.ts";
import { ask, CHAT, chatBody } from "../e2e/wire.ts";
import { type FaultProxy, first, isPoll, isSubmit, startProxy } from "./fault-proxy.ts";

const KEY = { authorization: "Bearer sk-secret" };

let engine: EngineServer;
let router: RouterProcess;
let proxy: FaultProxy;

beforeAll(async () => {
  engine = await startEngine(replyWith(200, PLAIN));
  router = await serve({ config: { models: remoteModels(engine, ["m"]) }, folder: tempFolder() });
  proxy = await startProxy();
});

beforeEach(() => {
  engine.answer = replyWith(200, PLAIN);
  engine.received.length = 0;
  proxy.passed.length = 0;
  proxy.target = router.origin;
  proxy.fate = () => "pass";
});

const chat = (init: RequestInit & { fetch?: typeof fetch } = {}): Promise<Response> => {
  const { fetch = sirFetch(), ...rest } = init;
  const headers = { "content-type": "application/json", ...KEY, ...(init.headers as Record<string, string>) };
  return fetch(`${proxy.origin}${CHAT}`, { method: "POST", body: chatBody("m"), ...rest, headers });
};

async function newestJobs(): Promise<readonly Receipt[]> {
  const keys = new Set(proxy.passed.filter(isSubmit).map(({ headers }) => headers["idempotency-key"]));
  expect(keys.size).toBe(1);
  const { data } = (await ask(router.origin, "/v1/jobs?limit=100")).json<JobList>();
  return data;
}

/** How many jobs the router has more than before, while `work` ran. */
async function jobsMade(work: () => Promise<unknown>): Promise<readonly Receipt[]> {
  const before = new Set((await ask(router.origin, "/v1/jobs?limit=100")).json<JobList>().data.map(({ id }) => id));
  await work();
  return (await newestJobs()).filter(({ id }) => !before.has(id));
}

describe("sirFetch before a router", () => {
  it("returns the engine's own answer, byte for byte, and the engine gets the body as it was sent", async () => {
    const odd = ' {"model":"m","messages":[],"seed":9007199254740993, "a":1.0}\n';

    const response = await chat({ body: odd });

    expect(response.status).toBe(200);
    expect(response.headers.get("sir-job-status")).toBe("completed");
    expect(await response.text()).toBe(PLAIN);
    expect(engine.received.map(({ body }) => body.toString())).toEqual([odd]);
  });

  it("makes one job of a submit that was lost twice after it was taken", async () => {
    proxy.fate = first(2, "lost", isSubmit);

    const jobs = await jobsMade(async () => expect(await (await chat()).text()).toBe(PLAIN));

    expect([proxy.passed.filter(isSubmit).length, jobs.length, engine.received.length]).toEqual([3, 1, 1]);
  });

  it("goes on where polls are lost, refused, answered by a proxy's error page or by nothing", async () => {
    const fates = ["lost", "refused", { status: 502, body: "<html>" }, { status: 503 }, "refused"] as const;
    let polls = 0;
    proxy.fate = (passing) => (isPoll(passing) ? (fates[polls++] ?? "pass") : "pass");

    const jobs = await jobsMade(async () => expect(await (await chat()).text()).toBe(PLAIN));

    expect([jobs.length, engine.received.length, polls]).toEqual([1, 1, 6]);
  });

  it("takes nothing but credentials along to a poll", async () => {
    await chat({ headers: { "x-api-key": "k", "x-mine": "1" } });

    const [poll] = proxy.passed.filter(isPoll);
    expect(poll?.headers).toMatchObject({ ...KEY, "x-api-key": "k", prefer: "wait=25" });
    expect(Object.keys(poll?.headers ?? {})).not.toEqual(expect.arrayContaining(["x-mine"]));
    expect(poll?.headers["idempotency-key"] ?? poll?.headers["content-type"]).toBeUndefined();
  });

  it("returns an engine's refusal as it is, after one submit", async () => {
    engine.answer = replyWith(400, BAD_REQUEST);

    const response = await chat();

    expect([response.status, await response.text()]).toEqual([400, BAD_REQUEST]);
    expect(proxy.passed.filter(isSubmit)).toHaveLength(1);
  });

  it("passes a stream through", async () => {
    engine.answer = streamOf(STREAM);

    const response = await chat({ body: chatBody("m", { stream: true }) });

    expect(response.headers.get("content-type")).toContain("text/event-stream");
    expect((await response.text()).replace(/^:.*\n\n?/gm, "")).toBe(STREAM.join(""));
    expect(proxy.passed.filter(isPoll)).toEqual([]);
  });

  it("cancels the job of a stream that is aborted, at once", async () => {
    engine.answer = ({ response }) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(STREAM[0]);
    };
    const abort = new AbortController();
    const response = await chat({ body: chatBody("m", { stream: true }), signal: abort.signal });
    const id = response.headers.get("sir-job-id") ?? "";
    await response.body?.getReader().read();

    abort.abort();

    await eventually(async () => {
      const receipt = (await ask(router.origin, `/v1/jobs/${id}`)).json<Receipt>();
      expect(receipt).toMatchObject({ status: "cancelled", error: { reason: "client" } });
    }, 5_000);
  });

  it("leaves a request alone that states its own preference", async () => {
    const response = await chat({ headers: { prefer: "respond-async" } });

    expect(response.status).toBe(202);
    const { id, object } = (await response.json()) as Receipt;
    expect(object).toBe("job");
    await ask(router.origin, `/v1/jobs/${id}?wait=30`);
    expect(proxy.passed.map(({ headers }) => headers["idempotency-key"])).toEqual([undefined]);
  });

  it("keeps the caller's own key", async () => {
    await chat({ headers: { "idempotency-key": "mine-1" } });

    expect(proxy.passed.filter(isSubmit).map(({ headers }) => headers["idempotency-key"])).toEqual(["mine-1"]);
  });

  it("takes a Request, and sends it again when it was lost", async () => {
    proxy.fate = first(1, "lost", isSubmit);
    const init = { method: "POST", body: chatBody("m"), headers: { "content-type": "application/json" } };

    const jobs = await jobsMade(async () => {
      const response = await sirFetch()(new Request(`${proxy.origin}${CHAT}`, init));
      expect(await response.text()).toBe(PLAIN);
    });

    expect([jobs.length, proxy.passed.filter(isSubmit).length]).toEqual([1, 2]);
    expect(engine.received.map(({ body }) => body.toString())).toEqual([chatBody("m")]);
  });

  it("sends a form again as one job, though its boundary is another", async () => {
    proxy.fate = first(1, "lost", isSubmit);
    const form = new FormData();
    form.set("model", "m");
    form.set("file", new Blob(["RIFF"]), "a.wav");

    const jobs = await jobsMade(async () => {
      const response = await sirFetch()(`${proxy.origin}/v1/audio/transcriptions`, { method: "POST", body: form });
      expect(response.status).toBe(200);
    });

    expect([jobs.length, proxy.passed.filter(isSubmit).length, engine.received.length]).toEqual([1, 2, 1]);
  });

  it("does not send a stream of bytes twice", async () => {
    proxy.fate = first(1, "lost", isSubmit);
    const body = new Blob([chatBody("m")]).stream();

    const call = chat({ body, duplex: "half" } as RequestInit);

    await expect(call).rejects.toThrow();
    expect(proxy.passed.filter(isSubmit)).toHaveLength(1);
  });

  it("tells what the receipts say, and cancels when the listener throws", async () => {
    engine.answer = () => undefined;
    const heard: string[] = [];
    const onStatus = ({ id, status }: Receipt): void => {
      heard.push(id);
      if (status === "in_progress") throw new Error("enough");
    };

    const call = chat({ fetch: sirFetch({ onStatus, waitSeconds: 1 }) });

    await expect(call).rejects.toThrow("enough");
    await eventually(async () => {
      const receipt = (await ask(router.origin, `/v1/jobs/${heard[0]}`)).json<Receipt>();
      expect(receipt).toMatchObject({ status: "cancelled", error: { reason: "client" } });
    });
  });

  it("cancels the job when it is aborted, and throws the signal's reason", async () => {
    engine.answer = () => undefined;
    const abort = new AbortController();
    const reason = new Error("changed my mind");

    const jobs = await jobsMade(async () => {
      const call = chat({ signal: abort.signal });
      const asked = await engine.request();
      abort.abort(reason);
      await expect(call).rejects.toBe(reason);
      await asked.cut;
    });

    expect(jobs).toMatchObject([{ status: "cancelled", error: { reason: "client" } }]);
  });

  it("cancels the job at its deadline, and throws a TimeoutError", async () => {
    engine.answer = () => undefined;

    const jobs = await jobsMade(async () => {
      const call = chat({ fetch: sirFetch({ deadlineSeconds: 0.5 }) });
      await expect(call).rejects.toMatchObject({ name: "TimeoutError", code: "deadline_exceeded" });
      await (await engine.request()).cut;
    });

    expect(proxy.passed.find(isSubmit)?.headers["cancel-after"]).toBe("1s");
    expect(jobs).toMatchObject([{ status: "cancelled" }]);
  });

  it("keeps its deadline where the server hangs, in the submit and in a poll", async () => {
    const fetch = sirFetch({ deadlineSeconds: 0.3 });
    proxy.fate = (passing) => (isSubmit(passing) ? "hang" : "pass");
    await expect(chat({ fetch })).rejects.toMatchObject({ name: "TimeoutError" });

    proxy.fate = (passing) => (isPoll(passing) ? "hang" : "pass");
    await expect(chat({ fetch })).rejects.toMatchObject({ name: "TimeoutError" });

    await eventually(() => expect(proxy.to("/cancel", "POST")).toHaveLength(1));
  });

  it("outlives a router that is killed while it waits, with one job", async () => {
    const folder = tempFolder();
    const config = { models: remoteModels(engine, ["m"]) };
    const before = await serve({ config, folder });
    proxy.target = before.origin;
    engine.answer = () => undefined;
    const call = chat();
    await engine.request();

    await before.kill();
    engine.answer = replyWith(200, PLAIN);
    const after = await serve({ config, folder });
    proxy.target = after.origin;

    expect(await (await call).text()).toBe(PLAIN);
    const { data } = (await ask(after.origin, "/v1/jobs")).json<JobList>();
    expect(data).toMatchObject([{ status: "completed", interruptions: 1 }]);
    await after.stop();
  });

  it("outlives a router that goes down in order, with one job", async () => {
    const folder = tempFolder();
    const config = { server: { shutdownSeconds: 0.2 }, models: remoteModels(engine, ["m"]) };
    const before = await serve({ config, folder });
    proxy.target = before.origin;
    engine.answer = () => undefined;
    const call = chat();
    await engine.request();

    await before.stop();
    engine.answer = replyWith(200, PLAIN);
    const after = await serve({ config, folder });
    proxy.target = after.origin;

    expect(await (await call).text()).toBe(PLAIN);
    expect((await ask(after.origin, "/v1/jobs")).json<JobList>().data).toMatchObject([{ status: "completed" }]);
    await after.stop();
  });
});

describe("sirFetch before a server that is no router", () => {
  beforeEach(() => {
    proxy.target = engine.origin;
  });

  it("passes a plain answer on, and the server sees the body as it was sent", async () => {
    const response = await chat();

    expect([response.status, await response.text()]).toEqual([200, PLAIN]);
    expect(engine.received.map(({ body }) => body.toString())).toEqual([chatBody("m")]);
    expect(proxy.passed).toHaveLength(1);
  });

  it("passes a stream on", async () => {
    engine.answer = streamOf(STREAM);

    expect(await (await chat()).text()).toBe(STREAM.join(""));
  });

  it("closes the socket when it is aborted", async () => {
    engine.answer = () => undefined;
    const abort = new AbortController();
    const call = chat({ signal: abort.signal });
    const asked = await engine.request();

    abort.abort();

    await expect(call).rejects.toMatchObject({ name: "AbortError" });
    await asked.cut;
  });

  it("passes a 202 on that is no receipt, with its body", async () => {
    engine.answer = ({ response }) => response.writeHead(202, { location: "/elsewhere" }).end("mine");

    const response = await chat();

    expect([response.status, await response.text()]).toEqual([202, "mine"]);
    expect(proxy.passed).toHaveLength(1);
  });

  it("asks three times where it fails, and then passes the failure on", async () => {
    engine.answer = replyWith(500, "{}");

    expect((await chat()).status).toBe(500);
    expect(proxy.passed).toHaveLength(3);
  });

  it("does not ask again where it is told not to", async () => {
    proxy.fate = () => ({ status: 503, headers: { "x-should-retry": "false", "retry-after": "1" } });

    expect((await chat()).status).toBe(503);
    expect(proxy.passed).toHaveLength(1);
  });

  it("does not touch what is no POST", async () => {
    const response = await sirFetch()(`${proxy.origin}/v1/models`, { headers: KEY });

    await response.text();
    expect(proxy.passed).toMatchObject([{ method: "GET", path: "/v1/models" }]);
    expect(proxy.passed[0]?.headers["prefer"] ?? proxy.passed[0]?.headers["idempotency-key"]).toBeUndefined();
  });
});

describe("sirFetch and what a server may say", () => {
  const receipt = (location: string) => ({ status: 202, headers: { location, "sir-job-id": "job_1" }, body: "{}" });

  it("refuses a receipt at another origin, and sends nothing there", async () => {
    const other = await startProxy();
    proxy.fate = () => receipt(`${other.origin}/v1/jobs/job_1`);

    await expect(chat()).rejects.toMatchObject({ code: "foreign_location" });
    expect(other.passed).toEqual([]);
  });

  it("refuses a poll's redirect to another origin, sends nothing there, and cancels", async () => {
    const other = await startProxy();
    proxy.fate = (passing) =>
      isSubmit(passing) ? receipt("/v1/jobs/job_1") : { status: 302, headers: { location: `${other.origin}/login` } };

    await expect(chat()).rejects.toMatchObject({ code: "foreign_location" });
    await eventually(() => expect(proxy.to("/cancel")).toHaveLength(1));
    await pause(50);
    expect(other.passed).toEqual([]);
  });

  it("follows a poll's redirect on the same origin", async () => {
    proxy.fate = ({ path }) => {
      if (path === CHAT) return receipt("../jobs/job_1");
      if (path.endsWith("/result")) return { status: 303, headers: { location: "result?hop=1" } };
      return { status: 200, headers: { "sir-job-status": "completed" }, body: "done" };
    };

    expect(await (await chat()).text()).toBe("done");
    expect(proxy.passed.map(({ path }) => path)).toEqual([
      CHAT,
      "/v1/jobs/job_1/result",
      "/v1/jobs/job_1/result?hop=1",
    ]);
  });

  it("takes a status that it does not know for no end", async () => {
    const words = ["paused", "resuming", "completed"];
    proxy.fate = (passing) => {
      if (isSubmit(passing)) return receipt("../jobs/job_1");
      const word = words.shift() ?? "";
      return { status: 200, headers: { "sir-job-status": word, "retry-after": "0" }, body: word };
    };

    expect(await (await chat()).text()).toBe("completed");
  });

  it.each(["failed", "cancelled", "expired"])("takes %s for an end, whatever its status is", async (word) => {
    proxy.fate = (passing) =>
      isSubmit(passing) ? receipt("../jobs/job_1") : { status: 502, headers: { "sir-job-status": word }, body: word };

    const response = await chat();

    expect([response.status, await response.text(), proxy.passed.length]).toEqual([502, word, 2]);
  });

  it("reads what it does not hand on to its end, so that sockets are used again", async () => {
    let polls = 0;
    const page = JSON.stringify({ object: "job", id: "job_1", status: "queued" });
    const server = createServer((incoming, outgoing) => {
      incoming.resume();
      const head = { location: "../jobs/job_1", "sir-job-id": "job_1", "retry-after": "0" };
      polls += 1;
      if (polls < 20) {
        outgoing.writeHead(202, head).flushHeaders();
        setTimeout(() => outgoing.end(page), 20);
      }
      if (polls === 20) outgoing.writeHead(200, { "sir-job-status": "completed" }).end("done");
    });
    let sockets = 0;
    server.on("connection", () => {
      sockets += 1;
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    afterAll(() => server.close());

    const { port } = server.address() as AddressInfo;
    const response = await sirFetch({ waitSeconds: 1 })(`http://127.0.0.1:${port}${CHAT}`, {
      method: "POST",
      body: chatBody("m"),
    });

    expect([await response.text(), polls]).toEqual(["done", 20]);
    expect(sockets).toBeLessThan(4);
  });

  it("gives a dead router up after its patience, with the last failure", async () => {
    proxy.fate = (passing) => (isSubmit(passing) ? receipt("../jobs/job_1") : { status: 502, body: "gateway" });

    const response = await chat({ fetch: sirFetch({ retrySeconds: 0 }) });

    expect([response.status, await response.text()]).toEqual([502, "gateway"]);
    expect(proxy.passed.filter(isPoll)).toHaveLength(3);
  });

  it.each([0, 0.5, 61, Number.NaN])("refuses a hold of %d seconds", (waitSeconds) => {
    expect(() => sirFetch({ waitSeconds })).toThrow(RangeError);
  });
});
