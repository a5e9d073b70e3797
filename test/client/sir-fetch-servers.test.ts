// What sirFetch does where there is no router, and with what a server or a proxy may say.

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { sirFetch } from "../../src/client/index.ts";
import { replyWith, streamOf } from "../e2e/engine-server.ts";
import { eventually, pause } from "../e2e/process.ts";
import { PLAIN, STREAM } from "../e2e/recorded-answers.ts";
import { CHAT, chatBody } from "../e2e/wire.ts";
import { isPoll, isSubmit, startProxy } from "./fault-proxy.ts";
import { chatThrough, KEY, useRig } from "./rig.ts";

const rig = useRig();
const chat = (init?: Parameters<typeof chatThrough>[1]): Promise<Response> => chatThrough(rig, init);

describe("sirFetch before a server that is no router", () => {
  beforeEach(() => {
    rig.proxy.target = rig.engine.origin;
  });

  it("passes a plain answer on, and the server sees the body as it was sent", async () => {
    const response = await chat();

    expect([response.status, await response.text()]).toEqual([200, PLAIN]);
    expect(rig.engine.received.map(({ body }) => body.toString())).toEqual([chatBody("m")]);
    expect(rig.proxy.passed).toHaveLength(1);
  });

  it("passes a stream on", async () => {
    rig.engine.answer = streamOf(STREAM);

    expect(await (await chat()).text()).toBe(STREAM.join(""));
  });

  it("closes the socket when it is aborted", async () => {
    rig.engine.answer = () => undefined;
    const abort = new AbortController();
    const call = chat({ signal: abort.signal });
    const asked = await rig.engine.request();

    abort.abort();

    await expect(call).rejects.toMatchObject({ name: "AbortError" });
    await asked.cut;
  });

  it("passes a 202 on that is no receipt, with its body", async () => {
    rig.engine.answer = ({ response }) => response.writeHead(202, { location: "/elsewhere" }).end("mine");

    const response = await chat();

    expect([response.status, await response.text()]).toEqual([202, "mine"]);
    expect(rig.proxy.passed).toHaveLength(1);
  });

  it("asks three times where it fails, and then passes the failure on", async () => {
    rig.engine.answer = replyWith(500, "{}");

    expect((await chat()).status).toBe(500);
    expect(rig.proxy.passed).toHaveLength(3);
  });

  it("does not ask again where it is told not to", async () => {
    rig.proxy.fate = () => ({ status: 503, headers: { "x-should-retry": "false", "retry-after": "1" } });

    expect((await chat()).status).toBe(503);
    expect(rig.proxy.passed).toHaveLength(1);
  });

  it("does not touch what is no POST", async () => {
    const response = await sirFetch()(`${rig.proxy.origin}/v1/models`, { headers: KEY });

    await response.text();
    expect(rig.proxy.passed).toMatchObject([{ method: "GET", path: "/v1/models" }]);
    expect(rig.proxy.passed[0]?.headers["prefer"] ?? rig.proxy.passed[0]?.headers["idempotency-key"]).toBeUndefined();
  });
});

describe("sirFetch and what a server may say", () => {
  const receipt = (location: string) => ({ status: 202, headers: { location, "sir-job-id": "job_1" }, body: "{}" });

  it("refuses a receipt at another origin, and sends nothing there", async () => {
    const other = await startProxy();
    rig.proxy.fate = () => receipt(`${other.origin}/v1/jobs/job_1`);

    await expect(chat()).rejects.toMatchObject({ code: "foreign_location" });
    expect(other.passed).toEqual([]);
  });

  it("refuses a poll's redirect to another origin, sends nothing there, and cancels", async () => {
    const other = await startProxy();
    rig.proxy.fate = (passing) =>
      isSubmit(passing) ? receipt("/v1/jobs/job_1") : { status: 302, headers: { location: `${other.origin}/login` } };

    await expect(chat()).rejects.toMatchObject({ code: "foreign_location" });
    await eventually(() => expect(rig.proxy.to("/cancel")).toHaveLength(1));
    await pause(50);
    expect(other.passed).toEqual([]);
  });

  it("follows a poll's redirect on the same origin", async () => {
    rig.proxy.fate = ({ path }) => {
      if (path === CHAT) return receipt("../jobs/job_1");
      if (path.endsWith("/result")) return { status: 303, headers: { location: "result?hop=1" } };
      return { status: 200, headers: { "sir-job-status": "completed" }, body: "done" };
    };

    expect(await (await chat()).text()).toBe("done");
    expect(rig.proxy.passed.map(({ path }) => path)).toEqual([
      CHAT,
      "/v1/jobs/job_1/result",
      "/v1/jobs/job_1/result?hop=1",
    ]);
  });

  it("takes a status that it does not know for no end", async () => {
    const words = ["paused", "resuming", "completed"];
    rig.proxy.fate = (passing) => {
      if (isSubmit(passing)) return receipt("../jobs/job_1");
      const word = words.shift() ?? "";
      return { status: 200, headers: { "sir-job-status": word, "retry-after": "0" }, body: word };
    };

    expect(await (await chat()).text()).toBe("completed");
  });

  it.each(["failed", "cancelled", "expired"])("takes %s for an end, whatever its status is", async (word) => {
    rig.proxy.fate = (passing) =>
      isSubmit(passing) ? receipt("../jobs/job_1") : { status: 502, headers: { "sir-job-status": word }, body: word };

    const response = await chat();

    expect([response.status, await response.text(), rig.proxy.passed.length]).toEqual([502, word, 2]);
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
    rig.proxy.fate = (passing) => (isSubmit(passing) ? receipt("../jobs/job_1") : { status: 502, body: "gateway" });

    const response = await chat({ fetch: sirFetch({ retrySeconds: 0 }) });

    expect([response.status, await response.text()]).toEqual([502, "gateway"]);
    expect(rig.proxy.passed.filter(isPoll)).toHaveLength(3);
  });

  it.each([0, 0.5, 61, Number.NaN])("refuses a hold of %d seconds", (waitSeconds) => {
    expect(() => sirFetch({ waitSeconds })).toThrow(RangeError);
  });
});
