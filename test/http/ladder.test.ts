// The redirect ladder: a caller without Prefer is held, then sent on from hop to hop, and its job is on the disk before.

import { describe, expect, it } from "vitest";
import { ANSWER, ASK, type Given, get, given, MODEL, nextCall, passes, post, quiet, settled } from "./given.ts";
import { onLadder, SDK, target } from "./on-ladder.ts";

/** Files are read in real time, while virtual time stands. */
async function inRealTime(world: Given): Promise<void> {
  await quiet(world);
  await new Promise(setImmediate);
}

describe("a hold that grows too long", () => {
  it("ends in a redirect that explains itself, and the hops hold on until the engine's own answer is there", async () => {
    const world = await given();
    const startedAtMs = world.clock.nowMs();
    const { response, path } = await onLadder(world);
    const call = await nextCall(world);

    expect(world.clock.nowMs() - startedAtMs).toBe(50_000);
    expect(path).toMatch(/^\/v1\/jobs\/job_[0-9a-f]{32}\/result\?hop=1$/);
    expect(response.headers.get("location")).toMatch(/^\.\.\/jobs\//);
    expect(response.headers.has("retry-after")).toBe(false);
    expect(await response.json()).toMatchObject({
      object: "job",
      status: "in_progress",
      response: null,
      error: { code: "redirect_not_followed", type: "invalid_request_error", param: null },
    });

    let at = path;
    for (let hop = 2; hop <= 8; hop++) {
      at = target(await settled(world, get(world, at, SDK)), at);
      expect(at).toBe(path.replace("hop=1", `hop=${hop}`));
    }
    const last = get(world, at, SDK);
    await passes(world, 10_000);
    call.answer(ANSWER, 201);
    const answer = await settled(world, last);

    expect([answer.status, await answer.text()]).toEqual([201, ANSWER]);
    expect(answer.headers.get("sir-job-status")).toBe("completed");
    expect(world.backend.calls).toHaveLength(1);
  });

  it.each([
    ["/v1/completions", "jobs/", "/v1/jobs/"],
    ["/v1/audio/speech", "../jobs/", "/v1/jobs/"],
    ["/tokenize", "v1/jobs/", "/v1/jobs/"],
  ])("of %s leads to %s… inside /v1", async (path, location, resolved) => {
    const world = await given();

    const response = await settled(world, post(world, ASK, { path, headers: SDK }));

    expect(response.headers.get("location")?.startsWith(location)).toBe(true);
    expect(target(response, path).startsWith(resolved)).toBe(true);
  });

  it.each([
    [{ "x-stainless-timeout": "20" }, 18_000],
    [{ "x-stainless-read-timeout": "10.0" }, 9_000],
    [{ "x-stainless-timeout": "600", "x-stainless-read-timeout": "600" }, 50_000],
    [{ "x-stainless-timeout": "0", "x-stainless-read-timeout": "None" }, 50_000],
    [{ prefer: "wait=7" }, 7_000],
    [{ prefer: "wait=60", "x-stainless-timeout": "10" }, 9_000],
  ])("with %j ends after %i ms, on each hop", async (headers, holdMs) => {
    const world = await given();
    const startedAtMs = world.clock.nowMs();
    const { path } = await onLadder(world, { ...SDK, ...headers });
    const sentOnAtMs = world.clock.nowMs();

    const next = await settled(world, get(world, path, { ...SDK, ...headers }));

    expect(sentOnAtMs - startedAtMs).toBe(holdMs);
    expect(next.status).toBe(303);
    expect(world.clock.nowMs() - sentOnAtMs).toBe(holdMs);
  });

  it("has its job and its body on the disk before the redirect, and the memory of it is free", async () => {
    const world = await given();
    const { id } = await onLadder(world);

    const stored = await world.store.job(id as never);
    const body = await world.store.body(id as never);

    expect(stored).toMatchObject({ durable: true, origin: "socket", state: { status: "running" } });
    expect(body).toMatchObject({ sizeBytes: Buffer.byteLength(JSON.stringify(ASK)) });
  });

  it("goes on where the switch is off, and for a stream", async () => {
    const world = await given({ redirect: false });
    let answered = false;
    const plain = post(world, ASK, { headers: SDK }).finally(() => {
      answered = true;
    });
    const call = await nextCall(world);
    await passes(world, 3_000_000);

    expect(answered).toBe(false);
    call.answer(ANSWER);
    expect((await settled(world, plain)).status).toBe(200);

    const other = await given();
    const stream = await settled(other, post(other, { ...ASK, stream: true }, { headers: SDK }));
    await passes(other, 200_000);
    expect(stream.status).toBe(200);
    expect(stream.headers.get("content-type")).toMatch(/^text\/event-stream/);
  });

  it("goes on where the job cannot be stored", async () => {
    const world = await given();
    const keep = world.store.keep.bind(world.store);
    world.store.keep = () => Promise.resolve(null);
    const response = post(world, ASK, { headers: SDK });
    const call = await nextCall(world);
    await passes(world, 100_000);
    world.store.keep = keep;

    call.answer(ANSWER);

    expect((await settled(world, response)).status).toBe(200);
  });

  it("keeps a body that lies in a file, for the attempt after the first", async () => {
    const world = await given();
    const large = { model: MODEL, text: "x".repeat(1_500_000) };
    const first = post(world, large, { headers: SDK });
    while (world.backend.calls.length < 1) await inRealTime(world);
    const path = target(await settled(world, first), "/v1/chat/completions");
    (await nextCall(world)).end({ kind: "failed", code: "backend_error", detail: "cut" });
    const response = get(world, path, SDK);
    await passes(world, 2_000);
    while (world.backend.calls.length < 2) await inRealTime(world);

    const again = await nextCall(world);
    again.answer(ANSWER);

    expect((await again.body).toString()).toBe(JSON.stringify(large));
    expect((await settled(world, response)).status).toBe(200);
  });
});

describe("an answer at the end of the ladder", () => {
  it("that is the engine's own 4xx comes back as itself, not to be repeated", async () => {
    const world = await given();
    const { path } = await onLadder(world);
    (await nextCall(world)).answer('{"error":{"message":"too long"}}', 422);

    const response = await settled(world, get(world, path, SDK));

    expect([response.status, await response.text()]).toEqual([422, '{"error":{"message":"too long"}}']);
    expect(response.headers.get("x-should-retry")).toBe("false");
  });

  it("that is a failure is 502 and not to be repeated", async () => {
    const world = await given();
    world.backend.script = (call) => {
      if (world.backend.calls.length > 1) call.end({ kind: "failed", code: "backend_error", detail: "broke" });
    };
    const { path } = await onLadder(world);
    (await nextCall(world)).end({ kind: "failed", code: "backend_error", detail: "broke" });

    const response = await settled(world, get(world, path, SDK));

    expect(response.status).toBe(502);
    expect(response.headers.get("x-should-retry")).toBe("false");
  });

  it("is there for a hop that comes after the end, for two followers, for POST, and for HEAD without a body", async () => {
    const world = await given();
    const { path } = await onLadder(world);
    const call = await nextCall(world);
    const followers = [get(world, path, SDK), get(world, path, SDK)];
    await quiet(world);
    call.answer(ANSWER);
    const texts = await Promise.all((await settled(world, Promise.all(followers))).map((each) => each.text()));

    const posted = await settled(world, post(world, "{}", { path, headers: SDK }));
    const head = await settled(world, Promise.resolve(world.app.request(path, { method: "HEAD" })));

    expect(texts).toEqual([ANSWER, ANSWER]);
    expect(await posted.text()).toBe(ANSWER);
    expect([head.status, await head.text()]).toEqual([200, ""]);
    expect(world.backend.calls).toHaveLength(1);
  });

  it("is unknown to a job that is not there, and a hop that is no number is refused", async () => {
    const world = await given();

    const unknown = await settled(world, get(world, `/v1/jobs/job_${"0".repeat(32)}/result?hop=1`));
    const odd = await settled(world, get(world, `/v1/jobs/job_${"0".repeat(32)}/result?hop=x`));

    expect([unknown.status, odd.status]).toEqual([404, 400]);
  });
});
