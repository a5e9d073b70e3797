// One call is one job, whatever happens on the way to a router.

import { describe, expect, it } from "vitest";
import { sirFetch } from "../../src/client/index.ts";
import type { JobList, Receipt } from "../../src/client/wire.ts";
import { remoteModels, replyWith, streamOf } from "../e2e/engine-server.ts";
import { eventually, serve, tempFolder } from "../e2e/process.ts";
import { BAD_REQUEST, PLAIN, STREAM } from "../e2e/recorded-answers.ts";
import { ask, CHAT, chatBody } from "../e2e/wire.ts";
import { first, isPoll, isSubmit } from "./fault-proxy.ts";
import { chatThrough, KEY, useRig } from "./rig.ts";

const rig = useRig();
const chat = (init?: Parameters<typeof chatThrough>[1]): Promise<Response> => chatThrough(rig, init);

async function newestJobs(): Promise<readonly Receipt[]> {
  const keys = new Set(rig.proxy.passed.filter(isSubmit).map(({ headers }) => headers["idempotency-key"]));
  expect(keys.size).toBe(1);
  const { data } = (await ask(rig.router, "/v1/jobs?limit=100")).json<JobList>();
  return data;
}

/** How many jobs the router has more than before, while `work` ran. */
async function jobsMade(work: () => Promise<unknown>): Promise<readonly Receipt[]> {
  const before = new Set((await ask(rig.router, "/v1/jobs?limit=100")).json<JobList>().data.map(({ id }) => id));
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
    expect(rig.engine.received.map(({ body }) => body.toString())).toEqual([odd]);
  });

  it("makes one job of a submit that was lost twice after it was taken", async () => {
    rig.proxy.fate = first(2, "lost", isSubmit);

    const jobs = await jobsMade(async () => expect(await (await chat()).text()).toBe(PLAIN));

    expect([rig.proxy.passed.filter(isSubmit).length, jobs.length, rig.engine.received.length]).toEqual([3, 1, 1]);
  });

  it("goes on where polls are lost, refused, or answered by a proxy's error page", async () => {
    const fates = ["lost", { status: 502, body: "<html>" }, "refused"] as const;
    let polls = 0;
    rig.proxy.fate = (passing) => (isPoll(passing) ? (fates[polls++] ?? "pass") : "pass");

    const jobs = await jobsMade(async () => expect(await (await chat()).text()).toBe(PLAIN));

    expect([jobs.length, rig.engine.received.length, polls]).toEqual([1, 1, 4]);
  });

  it("takes nothing but credentials along to a poll", async () => {
    await chat({ headers: { "x-api-key": "k", "x-mine": "1" } });

    const [poll] = rig.proxy.passed.filter(isPoll);
    expect(poll?.headers).toMatchObject({ ...KEY, "x-api-key": "k", prefer: "wait=25" });
    expect(Object.keys(poll?.headers ?? {})).not.toEqual(expect.arrayContaining(["x-mine"]));
    expect(poll?.headers["idempotency-key"] ?? poll?.headers["content-type"]).toBeUndefined();
  });

  it("returns an engine's refusal as it is, after one submit", async () => {
    rig.engine.answer = replyWith(400, BAD_REQUEST);

    const response = await chat();

    expect([response.status, await response.text()]).toEqual([400, BAD_REQUEST]);
    expect(rig.proxy.passed.filter(isSubmit)).toHaveLength(1);
  });

  it("passes a stream through", async () => {
    rig.engine.answer = streamOf(STREAM);

    const response = await chat({ body: chatBody("m", { stream: true }) });

    expect(response.headers.get("content-type")).toContain("text/event-stream");
    expect((await response.text()).replace(/^:.*\n\n?/gm, "")).toBe(STREAM.join(""));
    expect(rig.proxy.passed.filter(isPoll)).toEqual([]);
  });

  it("cancels the job of a stream that is aborted, at once", async () => {
    rig.engine.answer = ({ response }) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(STREAM[0]);
    };
    const abort = new AbortController();
    const response = await chat({ body: chatBody("m", { stream: true }), signal: abort.signal });
    const id = response.headers.get("sir-job-id") ?? "";
    await response.body?.getReader().read();

    abort.abort();

    await eventually(async () => {
      const receipt = (await ask(rig.router, `/v1/jobs/${id}`)).json<Receipt>();
      expect(receipt).toMatchObject({ status: "cancelled", error: { reason: "client" } });
    }, 5_000);
  });

  it("leaves a request alone that states its own preference", async () => {
    const response = await chat({ headers: { prefer: "respond-async" } });

    expect(response.status).toBe(202);
    const { id, object } = (await response.json()) as Receipt;
    expect(object).toBe("job");
    await ask(rig.router, `/v1/jobs/${id}?wait=30`);
    expect(rig.proxy.passed.map(({ headers }) => headers["idempotency-key"])).toEqual([undefined]);
  });

  it("keeps the caller's own key", async () => {
    await chat({ headers: { "idempotency-key": "mine-1" } });

    expect(rig.proxy.passed.filter(isSubmit).map(({ headers }) => headers["idempotency-key"])).toEqual(["mine-1"]);
  });

  it("takes a Request, and sends it again when it was lost", async () => {
    rig.proxy.fate = first(1, "lost", isSubmit);
    const init = { method: "POST", body: chatBody("m"), headers: { "content-type": "application/json" } };

    const jobs = await jobsMade(async () => {
      const response = await sirFetch()(new Request(`${rig.proxy.origin}${CHAT}`, init));
      expect(await response.text()).toBe(PLAIN);
    });

    expect([jobs.length, rig.proxy.passed.filter(isSubmit).length]).toEqual([1, 2]);
    expect(rig.engine.received.map(({ body }) => body.toString())).toEqual([chatBody("m")]);
  });

  it("sends a form again as one job, though its boundary is another", async () => {
    rig.proxy.fate = first(1, "lost", isSubmit);
    const form = new FormData();
    form.set("model", "m");
    form.set("file", new Blob(["RIFF"]), "a.wav");

    const jobs = await jobsMade(async () => {
      const response = await sirFetch()(`${rig.proxy.origin}/v1/audio/transcriptions`, { method: "POST", body: form });
      expect(response.status).toBe(200);
    });

    expect([jobs.length, rig.proxy.passed.filter(isSubmit).length, rig.engine.received.length]).toEqual([1, 2, 1]);
  });

  it("does not send a stream of bytes twice", async () => {
    rig.proxy.fate = first(1, "lost", isSubmit);
    const body = new Blob([chatBody("m")]).stream();

    const call = chat({ body, duplex: "half" } as RequestInit);

    await expect(call).rejects.toThrow();
    expect(rig.proxy.passed.filter(isSubmit)).toHaveLength(1);
  });

  it("tells what the receipts say, and cancels when the listener throws", async () => {
    rig.engine.answer = () => undefined;
    const heard: string[] = [];
    const onStatus = ({ id, status }: Receipt): void => {
      heard.push(id);
      if (status === "in_progress") throw new Error("enough");
    };

    const call = chat({ fetch: sirFetch({ onStatus, waitSeconds: 1 }) });

    await expect(call).rejects.toThrow("enough");
    await eventually(async () => {
      const receipt = (await ask(rig.router, `/v1/jobs/${heard[0]}`)).json<Receipt>();
      expect(receipt).toMatchObject({ status: "cancelled", error: { reason: "client" } });
    });
  });

  it("cancels the job when it is aborted, and throws the signal's reason", async () => {
    rig.engine.answer = () => undefined;
    const abort = new AbortController();
    const reason = new Error("changed my mind");

    const jobs = await jobsMade(async () => {
      const call = chat({ signal: abort.signal });
      const asked = await rig.engine.request();
      abort.abort(reason);
      await expect(call).rejects.toBe(reason);
      await asked.cut;
    });

    expect(jobs).toMatchObject([{ status: "cancelled", error: { reason: "client" } }]);
  });

  it("cancels the job at its deadline, and throws a TimeoutError", async () => {
    rig.engine.answer = () => undefined;

    const jobs = await jobsMade(async () => {
      const call = chat({ fetch: sirFetch({ deadlineSeconds: 0.5 }) });
      await expect(call).rejects.toMatchObject({ name: "TimeoutError", code: "deadline_exceeded" });
      await (await rig.engine.request()).cut;
    });

    expect(rig.proxy.passed.find(isSubmit)?.headers["cancel-after"]).toBe("1s");
    expect(jobs).toMatchObject([{ status: "cancelled" }]);
  });

  it("keeps its deadline where the server hangs, in the submit and in a poll", async () => {
    const fetch = sirFetch({ deadlineSeconds: 0.3 });
    rig.proxy.fate = (passing) => (isSubmit(passing) ? "hang" : "pass");
    await expect(chat({ fetch })).rejects.toMatchObject({ name: "TimeoutError" });

    rig.proxy.fate = (passing) => (isPoll(passing) ? "hang" : "pass");
    await expect(chat({ fetch })).rejects.toMatchObject({ name: "TimeoutError" });

    await eventually(() => expect(rig.proxy.to("/cancel", "POST")).toHaveLength(1));
  });

  it("outlives a router that is killed while it waits, with one job", async () => {
    const folder = tempFolder();
    const config = { models: remoteModels(rig.engine, ["m"]) };
    const before = await serve({ config, folder });
    rig.proxy.target = before.origin;
    rig.engine.answer = () => undefined;
    const call = chat();
    await rig.engine.request();

    await before.kill();
    rig.engine.answer = replyWith(200, PLAIN);
    const after = await serve({ config, folder });
    rig.proxy.target = after.origin;

    expect(await (await call).text()).toBe(PLAIN);
    const { data } = (await ask(after.origin, "/v1/jobs")).json<JobList>();
    expect(data).toMatchObject([{ status: "completed", interruptions: 1 }]);
    await after.stop();
  });

  it("outlives a router that goes down in order, with one job", async () => {
    const folder = tempFolder();
    const config = { server: { shutdownSeconds: 0.2 }, models: remoteModels(rig.engine, ["m"]) };
    const before = await serve({ config, folder });
    rig.proxy.target = before.origin;
    rig.engine.answer = () => undefined;
    const call = chat();
    await rig.engine.request();

    await before.stop();
    rig.engine.answer = replyWith(200, PLAIN);
    const after = await serve({ config, folder });
    rig.proxy.target = after.origin;

    expect(await (await call).text()).toBe(PLAIN);
    expect((await ask(after.origin, "/v1/jobs")).json<JobList>().data).toMatchObject([{ status: "completed" }]);
    await after.stop();
  });
});
