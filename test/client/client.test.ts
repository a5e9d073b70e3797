import { beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import {
  createClient,
  JobCancelled,
  type JobEvent,
  JobFailed,
  JobNotFound,
  ModelNotRouted,
  SirError,
} from "../../src/client/index.ts";
import type { JobList, Receipt } from "../../src/client/wire.ts";
import { type EngineServer, remoteModels, replyWith, startEngine } from "../e2e/engine-server.ts";
import { eventually, type RouterProcess, serve, tempFolder } from "../e2e/process.ts";
import { BAD_REQUEST, PLAIN } from "../e2e/recorded-answers.ts";
import { ask } from "../e2e/wire.ts";
import { type FaultProxy, isSubmit, startProxy } from "./fault-proxy.ts";

const HI = { model: "m", messages: [{ role: "user", content: "hi" }] };

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

const client = (over: object = {}) => createClient({ baseURL: `${proxy.origin}/v1`, apiKey: "sk-secret", ...over });

const receiptOf = async (id: string | null): Promise<Receipt> =>
  (await ask(router.origin, `/v1/jobs/${id}`)).json<Receipt>();

async function listOf<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}

describe("run", () => {
  it("returns the engine's answer, parsed", async () => {
    const statuses: string[] = [];

    const answer = await client().run<{ id: string }>(HI, { onStatus: ({ status }) => statuses.push(status) });

    expect(answer.id).toBe("chatcmpl-1");
    expect(statuses[0]).toBe("queued");
  });

  it("does the same before a plain engine", async () => {
    proxy.target = engine.origin;

    expect(await client().run(HI)).toMatchObject({ id: "chatcmpl-1" });
  });

  it("asks any endpoint, with headers of the job's own", async () => {
    const options = { endpoint: "/v1/embeddings", priority: "batch", leaseSeconds: 30, headers: { "x-mine": "1" } };

    await client().run({ model: "m", input: "x" }, options);

    const [submit] = proxy.passed.filter(isSubmit);
    expect(submit).toMatchObject({
      path: "/v1/embeddings",
      headers: { "sir-priority": "batch", "sir-lease": "30", "x-mine": "1", authorization: "Bearer sk-secret" },
    });
  });

  it("throws a JobFailed with the engine's status and body", async () => {
    engine.answer = replyWith(400, BAD_REQUEST);

    const error = await client()
      .run(HI)
      .catch((thrown: unknown) => thrown);

    expect(error).toBeInstanceOf(JobFailed);
    expect(error).toMatchObject({ status: 400, param: "max_tokens", body: JSON.parse(BAD_REQUEST) });
    expect(error).toMatchObject({ name: "SirError", message: "max_tokens is too large: 1e9" });
  });

  it("throws an ApiError with the router's code, when it takes no job", async () => {
    const call = client().run({ ...HI, model: "n" });

    await expect(call).rejects.toMatchObject({ name: "SirError", status: 404, code: "model_not_found" });
  });

  it("has one deadline, and cancels the job when it passes", async () => {
    engine.answer = () => undefined;
    let id = "";
    const call = client().run(HI, {
      deadlineSeconds: 0.4,
      onStatus: (receipt) => {
        id = receipt.id;
      },
    });

    await expect(call).rejects.toMatchObject({ code: "deadline_exceeded" });
    await eventually(async () => expect(await receiptOf(id)).toMatchObject({ status: "cancelled" }));
  });
});

describe("a job", () => {
  it("can be waited for by another client than the one that submitted it", async () => {
    const { id } = await client().submit(HI);

    const job = client().job(id ?? "");

    expect(await job.result()).toMatchObject({ id: "chatcmpl-1" });
    expect(await (await job.response()).text()).toBe(PLAIN);
    expect(await job.refresh()).toMatchObject({ id, status: "completed" });
    expect(job.receipt?.status).toBe("completed");
  });

  it("has its answer already where a plain engine gave it", async () => {
    proxy.target = engine.origin;

    const job = await client().submit(HI);

    expect([job.id, job.receipt]).toEqual([null, null]);
    expect(await job.result()).toMatchObject({ id: "chatcmpl-1" });
    expect(await job.result()).toMatchObject({ id: "chatcmpl-1" });
    expect(await listOf(job.events())).toEqual([]);
    await expect(job.cancel()).rejects.toMatchObject({ code: "no_job" });
  });

  it("is one, however many submits have its key", async () => {
    const submits = [1, 2, 3].map(() => client().submit(HI, { idempotencyKey: "one-of-three" }));

    const ids = (await Promise.all(submits)).map(({ id }) => id);

    expect(new Set(ids).size).toBe(1);
  });

  it("is cancelled, and its waiters hear why", async () => {
    engine.answer = () => undefined;
    const job = await client().submit(HI);
    const waiting = job.result().catch((thrown: unknown) => thrown);

    expect(await job.cancel()).toMatchObject({ status: "cancelled" });

    const error = await waiting;
    expect(error).toBeInstanceOf(JobCancelled);
    expect(error).toMatchObject({ code: "job_cancelled", status: 400, reason: "client" });
    expect(await job.cancel()).toMatchObject({ status: "cancelled" });
  });

  it("goes on when a waiter gives up", async () => {
    engine.answer = () => undefined;
    const job = await client().submit(HI);

    await expect(job.result({ deadlineSeconds: 0.2 })).rejects.toMatchObject({ code: "deadline_exceeded" });
    await expect(job.result({ signal: AbortSignal.abort("no") })).rejects.toBe("no");

    expect(["queued", "in_progress"]).toContain((await job.refresh()).status);
    await job.cancel();
  });

  it("says clearly when the router cannot explain", async () => {
    proxy.fate = ({ path }) => {
      const error = { message: "no such route", type: "not_found_error", param: null, code: "route_not_found" };
      return path.endsWith("/explain") ? { status: 404, body: JSON.stringify({ error }) } : "pass";
    };
    const job = await client().submit(HI);

    await expect(job.explain()).rejects.toMatchObject({ code: "route_not_found" });
  });

  it("is not found under a foreign or invented id", async () => {
    const job = client().job(`job_${"0".repeat(32)}`);

    await expect(job.result()).rejects.toBeInstanceOf(JobNotFound);
    await expect(job.refresh()).rejects.toBeInstanceOf(JobNotFound);
    await expect(listOf(job.events())).rejects.toBeInstanceOf(JobNotFound);
  });
});

describe("a job's events", () => {
  it("lead from its state now to its end", async () => {
    let release: () => void = () => undefined;
    engine.answer = (received) => {
      release = () => void replyWith(200, PLAIN)(received);
    };
    const job = await client().submit(HI);
    const seen: JobEvent[] = [];

    for await (const event of job.events()) {
      seen.push(event);
      if (event.event === "started") release();
    }

    expect(seen.at(-1)).toMatchObject({ event: "completed", receipt: { id: job.id, status: "completed" } });
    expect(job.receipt?.status).toBe("completed");
  });

  it("are taken up again where the connection broke, and none is told twice", async () => {
    let release: () => void = () => undefined;
    engine.answer = (received) => {
      release = () => void replyWith(200, PLAIN)(received);
    };
    const job = await client().submit(HI);
    await engine.request();
    let breaks = 0;
    const seen: string[] = [];

    for await (const { event, id } of job.events()) {
      seen.push(`${event} ${id}`);
      if (event !== "started") continue;
      breaks += 1;
      proxy.cut();
      release();
    }

    expect(breaks).toBe(1);
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen.at(-1)).toMatch(/^completed /);
    const [, again] = proxy.to("/events");
    expect(again?.headers["last-event-id"]).toBe(seen[0]?.split(" ")[1]);
  });

  it("end with the loop that reads them, and the job goes on", async () => {
    engine.answer = () => undefined;
    const job = await client().submit(HI);

    for await (const _ of job.events()) break;

    expect(["queued", "in_progress"]).toContain((await job.refresh()).status);
    await job.cancel();
  });

  it("end with the signal", async () => {
    engine.answer = () => undefined;
    const job = await client().submit(HI);
    const abort = new AbortController();
    const reading = (async () => {
      for await (const { event } of job.events({ signal: abort.signal }))
        if (event === "started") abort.abort("enough");
    })();

    await expect(reading).rejects.toBe("enough");
    await job.cancel();
  });
});

describe("the list of jobs", () => {
  it("is read page by page to its end", async () => {
    const ids = await Promise.all(Array.from({ length: 5 }, async () => (await client().submit(HI)).id));

    const listed: string[] = [];
    for await (const { id } of client().jobs.list({ pageSize: 2, model: "m", order: "desc" })) {
      if (ids.includes(id)) listed.push(id);
      if (listed.length === 5) break;
    }

    expect(new Set(listed)).toEqual(new Set(ids));
    const pages = proxy.to("/v1/jobs?", "GET");
    expect(pages.length).toBeGreaterThan(2);
    expect(pages[0]?.path).toBe("/v1/jobs?model=m&order=desc&limit=2");
  });

  it("can be asked by status", async () => {
    const { data } = (await ask(router.origin, "/v1/jobs?status=completed,failed&limit=100")).json<JobList>();

    const listed = await listOf(client().jobs.list({ status: ["completed", "failed"] }));

    expect(listed.map(({ id }) => id)).toEqual(expect.arrayContaining(data.map(({ id }) => id)));
    expect(listed.every(({ status }) => status === "completed" || status === "failed")).toBe(true);
  });
});

describe("a client with several endpoints", () => {
  it("sends each model to its own, and all others to the default", async () => {
    const other = await startProxy(engine.origin);
    const both = createClient({ baseURL: `${proxy.origin}/v1`, endpoints: { far: other.origin } });

    await both.run({ ...HI, model: "far" });
    await both.run(HI);

    expect(other.passed.map(({ path }) => path)).toEqual(["/v1/chat/completions"]);
    expect(proxy.passed.filter(isSubmit)).toHaveLength(1);
    expect(both.job("job_1", "far").id).toBe("job_1");
    expect(() => createClient({ endpoints: { far: other.origin } }).job("job_1")).toThrow(ModelNotRouted);
  });

  it("does not send what it knows no endpoint for", async () => {
    const only = createClient({ endpoints: { m: proxy.origin } });

    const call = only.run({ ...HI, model: "other" });

    await expect(call).rejects.toBeInstanceOf(ModelNotRouted);
    await expect(call).rejects.toThrow('No endpoint is known for "other". Named ones: m.');
    expect(proxy.passed).toEqual([]);
  });

  it("learns from each server which models it has", async () => {
    const far = await startEngine(replyWith(200, '{"object":"list","data":[{"id":"far","object":"model"}]}'));
    const both = createClient({ endpoints: { m: proxy.origin, other: far.origin } });

    expect(await both.discover()).toEqual(["far", "m"]);
    expect(both.endpoints.resolve("far")).toBe(`${far.origin}/v1`);

    far.answer = replyWith(200, '{"object":"list","data":[{"id":"m","object":"model"}]}');
    await expect(both.discover()).rejects.toMatchObject({ code: "ambiguous_model" });
    expect(both.endpoints.resolve("far")).toBe(`${far.origin}/v1`);
  });
});

describe("a client from the environment", () => {
  it("takes address, endpoints and key from it", async () => {
    vi.stubEnv("SIR_BASE_URL", `${proxy.origin}/v1/`);
    vi.stubEnv("SIR_API_KEY", "sk-env");
    const named = createClient();
    await named.run(HI);
    expect(proxy.passed[0]?.headers["authorization"]).toBe("Bearer sk-env");

    vi.stubEnv("SIR_URL", "http://wins:1");
    vi.stubEnv("SIR_ENDPOINTS", "a=http://one:1/v1/, b = http://two:2 ,");
    const { endpoints } = createClient();
    expect(endpoints.models()).toEqual(["a", "b"]);
    const urls = ["a", "b", "c"].map((model) => endpoints.resolve(model));
    expect(urls).toEqual(["http://one:1/v1", "http://two:2/v1", "http://wins:1/v1"]);
    vi.unstubAllEnvs();
  });

  it.each(["a", "=http://one", "a=", "a=one:1", "a=http://one,b"])("refuses SIR_ENDPOINTS %j", (text) => {
    vi.stubEnv("SIR_ENDPOINTS", text);

    expect(() => createClient()).toThrow(SirError);
    vi.unstubAllEnvs();
  });
});
