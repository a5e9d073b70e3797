// Receipts as they are polled: their facts, long polls, and what a poll means for the lease.

import { describe, expect, it } from "vitest";
import { ANSWER, ASK, completed, get, given, nextCall, passes, quiet, receiptOf, settled, submitted } from "./given.ts";

describe("a receipt", () => {
  it("has every key, with facts about the queue while it waits", async () => {
    const world = await given();
    await submitted(world);
    const { id } = await submitted(
      world,
      { traceparent: `00-${"a".repeat(32)}-${"b".repeat(16)}-01` },
      { ...ASK, model: "beta" },
    );

    const { receipt, response } = await receiptOf(world, `/v1/jobs/${id}`);

    expect(receipt).toMatchObject({
      ...{ id, object: "job", status: "queued", endpoint: "/v1/chat/completions", model: "beta", priority: 0 },
      ...{ started_at: null, completed_at: null, expires_at: null, attempts: 0, interruptions: 0, metadata: {} },
      ...{ trace_id: "a".repeat(32), response: null, error: null },
      queue: { position: 0, resident: false, needs_swap: true, blocked: null },
      lease: { seconds: 60, expires_at: receipt.created_at + 60 },
      urls: { self: `/v1/jobs/${id}`, result: `/v1/jobs/${id}/result`, events: `/v1/jobs/${id}/events` },
    });
    expect(response.headers.get("retry-after")).toBe(String(receipt.retry_after));
    expect(response.headers.has("etag")).toBe(false);
  });

  it("says whether its deadline can be met, and nothing where there is no deadline or no estimate", async () => {
    const world = await given();
    const feasible = async (id: string) => (await receiptOf(world, `/v1/jobs/${id}`)).receipt.queue?.deadline_feasible;
    const beta = { ...ASK, model: "beta" };
    const first = await submitted(world, {}, beta);
    const call = await nextCall(world);
    const unknown = await submitted(world, { "cancel-after": "1s" }, beta);
    expect(await feasible(unknown.id)).toBeNull();
    await passes(world, 20_000);
    call.answer(ANSWER);
    await settled(world, get(world, `/v1/jobs/${first.id}?wait=60`));
    await submitted(world, {}, beta);
    const late = await submitted(world, { "cancel-after": "21s" }, beta);
    const early = await submitted(world, { "cancel-after": "10m" }, beta);
    const never = await submitted(world, {}, beta);

    expect(await feasible(late.id)).toBe(false);
    expect(await feasible(early.id)).toBe(true);
    expect(await feasible(never.id)).toBeNull();
  });

  it("never changes when it was created, whatever the clock on the wall does", async () => {
    const world = await given();
    world.clock.jumpWall(-7_200_000);
    const { id } = await submitted(world);
    const first = (await receiptOf(world, `/v1/jobs/${id}`)).receipt;
    world.clock.jumpWall(3_600_000);
    await passes(world, 10_000);

    const second = (await receiptOf(world, `/v1/jobs/${id}`)).receipt;

    expect(first.created_at).toBe(1_790_000_000 - 7_200);
    expect(first.started_at).toBe(first.created_at);
    expect(second.created_at).toBe(first.created_at);
    expect(second.started_at).toBe(first.started_at);
    expect(second.lease?.expires_at).toBe((first.lease?.expires_at ?? 0) + 10);
  });

  it("has the engine's JSON spliced in unchanged", async () => {
    const world = await given();
    const id = await completed(world);

    const text = await (await settled(world, get(world, `/v1/jobs/${id}`))).text();

    expect(text).toContain(
      `"response":{"status_code":200,"request_id":"${id.replace("job_", "req_")}","body":${ANSWER}}`,
    );
    expect(JSON.parse(text)).toMatchObject({ status: "completed", retry_after: null, queue: null, lease: null });
  });

  it.each([
    ["sound", Buffer.from([1, 2, 3]), { "content-type": "audio/mpeg" }],
    ["JSON that is none", Buffer.from('{"a":'), { "content-type": "application/json" }],
    ["JSON in another encoding", Buffer.from([0x22, 0xff, 0x22]), { "content-type": "application/json" }],
    ["JSON beyond a mebibyte", Buffer.from(`"${"x".repeat(1024 * 1024)}"`), { "content-type": "application/json" }],
  ])("has type and size instead of %s", async (_what, body, headers) => {
    const world = await given();
    const { id } = await submitted(world);
    (await nextCall(world)).answer(body, 200, headers);
    await settled(world, get(world, `/v1/jobs/${id}?wait=60`));

    const { receipt } = await receiptOf(world, `/v1/jobs/${id}`);
    const result = await settled(world, get(world, `/v1/jobs/${id}/result`));

    expect(receipt.response).toMatchObject({ body: null, content_type: headers["content-type"], bytes: body.length });
    expect(Buffer.from(await result.arrayBuffer()).equals(body)).toBe(true);
  });

  it("is not sent again to a caller who has it, and that still counts as a poll", async () => {
    const world = await given();
    const id = await completed(world);
    const etag = (await receiptOf(world, `/v1/jobs/${id}`)).response.headers.get("etag") ?? "";

    const again = await settled(world, get(world, `/v1/jobs/${id}`, { "if-none-match": `"other", ${etag}` }));

    expect(etag).toMatch(/^"[^"]+"$/);
    expect(again.status).toBe(304);
    expect(again.headers.get("etag")).toBe(etag);
    expect(again.headers.get("cache-control")).toBe("no-store");
    expect(await again.text()).toBe("");
  });

  it("is answered to HEAD without a body", async () => {
    const world = await given();
    const { id } = await submitted(world);

    const response = await settled(world, Promise.resolve(world.app.request(`/v1/jobs/${id}`, { method: "HEAD" })));

    expect(response.status).toBe(200);
    expect(response.headers.get("retry-after")).toMatch(/^\d+$/);
    expect(await response.text()).toBe("");
  });
});

describe("a long poll", () => {
  it.each([
    ["?wait=20", {}],
    ["", { prefer: "wait=20" }],
  ])("by %s %o returns after that time with the job as it is", async (query, headers) => {
    const world = await given();
    const { id } = await submitted(world);
    const startedAtMs = world.clock.nowMs();

    const { receipt, response } = await receiptOf(world, `/v1/jobs/${id}${query}`, headers);

    expect(world.clock.nowMs() - startedAtMs).toBe(20_000);
    expect(receipt.status).toBe("in_progress");
    expect(response.headers.get("preference-applied")).toBe(query === "" ? "wait=20" : null);
  });

  it("returns as soon as the job is over", async () => {
    const world = await given();
    const { id } = await submitted(world);
    const call = await nextCall(world);
    const poll = get(world, `/jobs/${id}?wait=60`);
    await passes(world, 5_000);
    const startedAtMs = world.clock.nowMs();
    call.answer(ANSWER);

    expect(await (await settled(world, poll)).json()).toMatchObject({ status: "completed" });
    expect(world.clock.nowMs() - startedAtMs).toBeLessThan(100);
  });

  it("is not cut by a lease that is shorter, and leaves a full one behind", async () => {
    const world = await given({ leaseMs: 5_000 });
    const { id } = await submitted(world);

    const { receipt } = await receiptOf(world, `/v1/jobs/${id}?wait=30`);
    await passes(world, 4_500);

    expect(receipt.status).toBe("in_progress");
    expect((await receiptOf(world, `/v1/jobs/${id}`)).receipt.status).toBe("in_progress");
  });

  it("does not give the job up when its socket closes", async () => {
    const world = await given();
    const { id } = await submitted(world);
    const call = await nextCall(world);
    const leaving = new AbortController();
    void Promise.resolve(world.app.request(`/v1/jobs/${id}?wait=60`, { signal: leaving.signal })).catch(() => null);
    await quiet(world);
    leaving.abort();

    await passes(world, 50_000);
    expect(call.aborted).toBe(false);

    await passes(world, 15_000);
    expect(call.aborted).toBe(true);
    expect((await receiptOf(world, `/v1/jobs/${id}`)).receipt).toMatchObject({
      status: "cancelled",
      error: { code: "job_cancelled", reason: "lease_expired", type: "invalid_request_error", param: null },
    });
  });

  it.each(["-1", "61", "abc", "1e1", "", "NaN"])("is refused for wait=%s", async (wait) => {
    const world = await given();
    const { id } = await submitted(world);

    const response = await settled(world, get(world, `/v1/jobs/${id}?wait=${wait}`));

    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { code: "invalid_query", param: "wait" } });
  });
});
