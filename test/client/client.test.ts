// Jobs as objects: run, submit, wait, follow, cancel.

import { describe, expect, it } from "vitest";
import { createClient, JobCancelled, type JobEvent, JobFailed, JobNotFound } from "../../src/client/index.ts";
import type { Receipt } from "../../src/client/wire.ts";
import { replyWith } from "../e2e/engine-server.ts";
import { eventually } from "../e2e/process.ts";
import { BAD_REQUEST, PLAIN } from "../e2e/recorded-answers.ts";
import { ask } from "../e2e/wire.ts";
import { isSubmit } from "./fault-proxy.ts";
import { holdAnswers, listOf, useRig } from "./rig.ts";

const HI = { model: "m", messages: [{ role: "user", content: "hi" }] };

const rig = useRig();
const client = (over: object = {}) => createClient({ baseURL: `${rig.proxy.origin}/v1`, apiKey: "sk-secret", ...over });

const receiptOf = async (id: string | null): Promise<Receipt> =>
  (await ask(rig.router, `/v1/jobs/${id}`)).json<Receipt>();

describe("run", () => {
  it("returns the engine's answer, parsed", async () => {
    const statuses: string[] = [];

    const answer = await client().run<{ id: string }>(HI, { onStatus: ({ status }) => statuses.push(status) });

    expect(answer.id).toBe("chatcmpl-1");
    expect(statuses[0]).toBe("queued");
  });

  it("does the same before a plain engine", async () => {
    rig.proxy.target = rig.engine.origin;

    expect(await client().run(HI)).toMatchObject({ id: "chatcmpl-1" });
  });

  it("asks any endpoint, with headers of the job's own", async () => {
    const options = { endpoint: "/v1/embeddings", priority: "batch", leaseSeconds: 30, headers: { "x-mine": "1" } };

    await client().run({ model: "m", input: "x" }, options);

    const [submit] = rig.proxy.passed.filter(isSubmit);
    expect(submit).toMatchObject({
      path: "/v1/embeddings",
      headers: { "sir-priority": "batch", "sir-lease": "30", "x-mine": "1", authorization: "Bearer sk-secret" },
    });
  });

  it("throws a JobFailed with the engine's status and body", async () => {
    rig.engine.answer = replyWith(400, BAD_REQUEST);

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
    rig.engine.answer = () => undefined;
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
    rig.proxy.target = rig.engine.origin;

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
    rig.engine.answer = () => undefined;
    const job = await client().submit(HI);
    const waiting = job.result().catch((thrown: unknown) => thrown);

    expect(await job.cancel()).toMatchObject({ status: "cancelled" });

    const error = await waiting;
    expect(error).toBeInstanceOf(JobCancelled);
    expect(error).toMatchObject({ code: "job_cancelled", status: 400, reason: "client" });
    expect(await job.cancel()).toMatchObject({ status: "cancelled" });
  });

  it("goes on when a waiter gives up", async () => {
    rig.engine.answer = () => undefined;
    const job = await client().submit(HI);

    await expect(job.result({ deadlineSeconds: 0.2 })).rejects.toMatchObject({ code: "deadline_exceeded" });
    await expect(job.result({ signal: AbortSignal.abort("no") })).rejects.toBe("no");

    expect(["queued", "in_progress"]).toContain((await job.refresh()).status);
    await job.cancel();
  });

  it("says clearly when the router cannot explain", async () => {
    rig.proxy.fate = ({ path }) => {
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
    const release = holdAnswers(rig);
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
    const release = holdAnswers(rig);
    const job = await client().submit(HI);
    await rig.engine.request();
    let breaks = 0;
    const seen: string[] = [];

    for await (const { event, id } of job.events()) {
      seen.push(`${event} ${id}`);
      if (event !== "started") continue;
      breaks += 1;
      rig.proxy.cut();
      release();
    }

    expect(breaks).toBe(1);
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen.at(-1)).toMatch(/^completed /);
    const [, again] = rig.proxy.to("/events");
    expect(again?.headers["last-event-id"]).toBe(seen[0]?.split(" ")[1]);
  });

  it("end with the loop that reads them, and the job goes on", async () => {
    rig.engine.answer = () => undefined;
    const job = await client().submit(HI);

    for await (const _ of job.events()) break;

    expect(["queued", "in_progress"]).toContain((await job.refresh()).status);
    await job.cancel();
  });

  it("end with the signal", async () => {
    rig.engine.answer = () => undefined;
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
