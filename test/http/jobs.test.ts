// A job's answer and its end over HTTP.

import { describe, expect, it } from "vitest";
import type { Receipt } from "../../src/client/wire.ts";
import {
  ANSWER,
  ASK,
  completed,
  type Given,
  get,
  given,
  nextCall,
  passes,
  post,
  receiptOf,
  settled,
  submitted,
} from "./given.ts";

describe("a result", () => {
  it("is the stored answer, for GET and POST, from both roots", async () => {
    const world = await given();
    const id = await completed(world, ANSWER, { "content-type": "application/json; charset=utf-8" });

    const answers = [
      await settled(world, get(world, `/v1/jobs/${id}/result`)),
      await settled(world, get(world, `/jobs/${id}/result`)),
      await settled(world, post(world, "", { path: `/v1/jobs/${id}/result` })),
    ];

    for (const answer of answers) {
      expect(await answer.text()).toBe(ANSWER);
      expect(Object.fromEntries(answer.headers)).toMatchObject({
        "content-type": "application/json; charset=utf-8",
        "sir-job-id": id,
        "sir-job-status": "completed",
        "cache-control": "no-store",
      });
      expect(answer.headers.has("x-should-retry")).toBe(false);
    }
  });

  it.each([
    ["Prefer: wait=5", { prefer: "wait=5" }, 5_000],
    ["respond-async", { prefer: "respond-async" }, 0],
    ["no Prefer where redirects are off", {}, 50_000],
  ])("that is not there yet is 202 with %s, after the hold", async (_what, headers, heldMs) => {
    const world = await given({ redirect: false });
    const { id } = await submitted(world);
    const startedAtMs = world.clock.nowMs();

    const response = await settled(world, get(world, `/v1/jobs/${id}/result`, headers));

    expect(response.status).toBe(202);
    expect(world.clock.nowMs() - startedAtMs).toBe(heldMs);
    expect(Number(response.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
    expect(new URL(response.headers.get("location") ?? "", `http://sir/v1/jobs/${id}/result`).pathname).toBe(
      `/v1/jobs/${id}`,
    );
    expect(response.headers.has("sir-job-status")).toBe(false);
  });

  it("of an engine's refusal is that refusal, not to be repeated", async () => {
    const world = await given();
    const { id } = await submitted(world);
    (await nextCall(world)).answer('{"detail":"bad"}', 409);

    const response = await settled(world, get(world, `/v1/jobs/${id}/result`));

    expect([response.status, await response.text()]).toEqual([409, '{"detail":"bad"}']);
    expect(response.headers.get("x-should-retry")).toBe("false");
    expect(response.headers.get("sir-job-status")).toBe("failed");
  });

  it.each([
    ["cancelled", {}, "job_cancelled"],
    ["expired", { "cancel-after": "5s" }, "job_expired"],
  ])("of a job that was %s is 400 and not to be repeated", async (status, headers, code) => {
    const world = await given();
    await submitted(world);
    const { id } = await submitted(world, headers, { ...ASK, model: "beta" });
    if (status === "cancelled") await settled(world, post(world, "", { path: `/v1/jobs/${id}/cancel` }));
    else await passes(world, 7_000);

    const response = await settled(world, get(world, `/v1/jobs/${id}/result`));

    expect(response.status).toBe(400);
    expect(response.headers.get("x-should-retry")).toBe("false");
    expect(response.headers.get("sir-job-status")).toBe(status);
    expect(await response.json()).toMatchObject({ error: { code, type: "invalid_request_error", param: null } });
  });

  it("does not count as read while a receipt shows only its size", async () => {
    const world = await given();
    const { id } = await submitted(world);
    (await nextCall(world)).answer("sound", 200, { "content-type": "audio/mpeg" });

    await receiptOf(world, `/v1/jobs/${id}?wait=60`);
    await passes(world, 2_000);

    expect((await world.store.job(id as never))?.resultReadAtMs).toBeNull();
  });

  it("that was removed is 404 result_expired", async () => {
    const world = await given();
    const id = await completed(world);
    await settled(world, remove(world, id));

    const response = await settled(world, get(world, `/v1/jobs/${id}/result`));

    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ error: { code: "result_expired" } });
  });

  it("counts as read once it was given whole, and not by HEAD", async () => {
    const world = await given({ readTtlMs: 60_000 });
    const { id } = await submitted(world);
    (await nextCall(world)).answer(ANSWER);
    await settled(world, Promise.resolve(world.app.request(`/v1/jobs/${id}/result`, { method: "HEAD" })));
    await passes(world, 2_000);
    const before = (await world.store.job(id as never))?.resultReadAtMs;

    await settled(world, get(world, `/v1/jobs/${id}/result`));
    await passes(world, 2_000);

    expect(before).toBeNull();
    expect((await world.store.job(id as never))?.resultReadAtMs).not.toBeNull();
  });
});

describe("a cancel", () => {
  it("needs no body and no type, ends a running job, and its engine hears of it", async () => {
    const world = await given();
    const { id } = await submitted(world);
    const call = await nextCall(world);

    const response = await settled(
      world,
      Promise.resolve(world.app.request(`/v1/jobs/${id}/cancel`, { method: "POST" })),
    );

    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ status: "cancelled", error: { reason: "client" } });
    expect(call.aborted).toBe(true);
  });

  it("of what is already over is 200 with the job unchanged", async () => {
    const world = await given();
    const done = await completed(world);
    const { id: gone } = await submitted(world);

    const answers: Receipt[] = [];
    for (const id of [done, gone, gone]) {
      const response = await settled(world, post(world, "", { path: `/v1/jobs/${id}/cancel` }));
      expect(response.status).toBe(200);
      answers.push((await response.json()) as Receipt);
    }

    expect(answers.map(({ status }) => status)).toEqual(["completed", "cancelled", "cancelled"]);
    expect(answers[0]?.response?.body).toEqual(JSON.parse(ANSWER));
    expect(answers[2]).toEqual(answers[1]);
  });

  it("comes by DELETE too while the job lives", async () => {
    const world = await given();
    const { id } = await submitted(world);

    expect(await (await settled(world, remove(world, id))).json()).toMatchObject({ status: "cancelled" });
  });
});

it("DELETE removes what a final job holds, as often as it is asked", async () => {
  const world = await given();
  const id = await completed(world);

  for (const _ of [1, 2]) {
    const response = await settled(world, remove(world, id));
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ id, status: "completed", response: null });
  }
  expect((await receiptOf(world, `/v1/jobs/${id}`)).receipt.response).toBeNull();
});

it.each(["job_00", "nope", `job_${"0".repeat(32)}`, "..%2f..", "%00"])(
  "%s is an unknown job everywhere",
  async (id) => {
    const world = await given();
    const calls: [string, string][] = [
      ["GET", ""],
      ["DELETE", ""],
      ["GET", "/result"],
      ["GET", "/events"],
      ["POST", "/cancel"],
    ];
    for (const [method, tail] of calls) {
      const response = await settled(world, Promise.resolve(world.app.request(`/v1/jobs/${id}${tail}`, { method })));

      expect(response.status).toBe(404);
      expect(await response.json()).toMatchObject({ error: { code: "job_not_found", type: "not_found_error" } });
    }
  },
);

function remove(world: Given, id: string): Promise<Response> {
  return Promise.resolve(world.app.request(`/v1/jobs/${id}`, { method: "DELETE" }));
}
