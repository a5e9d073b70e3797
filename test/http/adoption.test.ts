// A synchronous caller whose socket closed, and its SDK's own repetition: it meets the job that was left behind.

import { describe, expect, it } from "vitest";
import { ANSWER, ASK, CHAT, type Given, get, given, nextCall, passes, quiet, settled } from "./given.ts";

const CHUNK = 'data: {"choices":[{"delta":{"content":"a"}}]}\n\n';
const DONE = "data: [DONE]\n\n";

interface Attempt {
  readonly answer: Promise<Response>;
  leave(): Promise<void>;
}

/** The SDK's attempt of this number; `leave` closes its socket. */
function attempt(
  world: Given,
  retryCount: number | null,
  body: unknown = ASK,
  more: Record<string, string> = {},
): Attempt {
  const left = new AbortController();
  const count = retryCount === null ? {} : { "x-stainless-retry-count": String(retryCount) };
  const answer = Promise.resolve(
    world.app.request(more["path"] ?? CHAT, {
      method: "POST",
      headers: { "content-type": "application/json", ...count },
      body: JSON.stringify(body),
      signal: left.signal,
    }),
  );
  return {
    answer,
    leave: async () => {
      left.abort();
      await answer;
      await quiet(world);
    },
  };
}

async function jobs(world: Given): Promise<string[]> {
  const list = (await (await settled(world, get(world, "/v1/jobs?order=asc"))).json()) as {
    data: { status: string }[];
  };
  return list.data.map(({ status }) => status);
}

describe("one user action is one generation: a repetition", () => {
  it("takes up the call that still runs", async () => {
    const world = await given();
    const first = attempt(world, 0);
    const call = await nextCall(world);
    await first.leave();
    await passes(world, 8_000);

    const second = attempt(world, 1);
    await quiet(world);
    await passes(world, 60_000 - 15_000);
    call.answer(ANSWER);

    expect(await (await settled(world, second.answer)).text()).toBe(ANSWER);
    expect(call.aborted).toBe(false);
    expect(world.backend.calls).toHaveLength(1);
    expect(await jobs(world)).toEqual(["completed"]);
  });

  it("gets the answer that was finished in between, once", async () => {
    const world = await given();
    const first = attempt(world, 0);
    const call = await nextCall(world);
    await first.leave();
    call.answer(ANSWER, 201);
    await passes(world, 4_000);

    const again = await settled(world, attempt(world, 1).answer);
    const other = attempt(world, 1);
    (await nextCall(world)).answer("another");

    expect([again.status, await again.text()]).toEqual([201, ANSWER]);
    expect(await (await settled(world, other.answer)).text()).toBe("another");
  });

  it("keeps the place in the queue", async () => {
    const world = await given();
    world.backend.script = () => undefined;
    const busy = Array.from({ length: 4 }, (_, i) => attempt(world, 0, { ...ASK, n: i }));
    await quiet(world);
    const first = attempt(world, 0);
    await quiet(world);
    const later = attempt(world, 0, { ...ASK, later: true });
    await quiet(world);
    await first.leave();
    await passes(world, 2_000);
    const second = attempt(world, 1);
    await quiet(world);

    for (const call of world.backend.calls.slice(0, 2)) call.answer(ANSWER);
    await quiet(world);

    expect(await Promise.all(world.backend.calls.slice(4).map(async ({ body }) => (await body).toString()))).toEqual([
      JSON.stringify(ASK),
      JSON.stringify({ ...ASK, later: true }),
    ]);
    for (const call of world.backend.calls.slice(2)) call.answer(ANSWER);
    await settled(world, Promise.all([...busy, second, later].map(({ answer }) => answer)));
    expect(world.backend.calls).toHaveLength(6);
  });

  it("may be repeated again, and only then is the orphan time over", async () => {
    const world = await given();
    const attempts = [attempt(world, 0)];
    const call = await nextCall(world);
    for (let n = 1; n <= 3; n++) {
      await attempts.at(-1)?.leave();
      await passes(world, 8_000);
      attempts.push(attempt(world, n));
      await quiet(world);
    }
    await attempts.at(-1)?.leave();
    await passes(world, 12_000);

    expect(call.aborted).toBe(true);
    expect(world.backend.calls).toHaveLength(1);
    expect(await jobs(world)).toEqual(["cancelled"]);
  });

  it("takes up a stream of which no byte has gone, with everything that came meanwhile", async () => {
    const world = await given();
    const ask = { ...ASK, stream: true };
    const first = attempt(world, 0, ask);
    const call = await nextCall(world);
    await first.leave();
    void call.stream().send(CHUNK);
    await quiet(world);

    const second = attempt(world, 1, ask);
    await quiet(world);
    void call.send(CHUNK);
    void call.send(DONE);
    call.end();

    expect(
      await settled(
        world,
        settled(world, second.answer).then((each) => each.text()),
      ),
    ).toBe(CHUNK + CHUNK + DONE);
    expect(world.backend.calls).toHaveLength(1);
  });

  it("takes up a stream that began while nobody waited, whole", async () => {
    const world = await given();
    const busy = Array.from({ length: 4 }, (_, i) => attempt(world, 0, { ...ASK, n: i }));
    await quiet(world);
    const ask = { ...ASK, stream: true };
    const first = attempt(world, 0, ask);
    await quiet(world);
    await first.leave();
    for (const call of world.backend.calls) call.answer(ANSWER);
    await settled(world, Promise.all(busy.map(({ answer }) => answer)));
    const call = world.backend.calls[4];
    void call?.stream().send(CHUNK);
    await quiet(world);

    const second = attempt(world, 1, ask);
    await quiet(world);
    void call?.send(DONE);
    call?.end();

    expect(call).toBeDefined();
    expect(
      await settled(
        world,
        settled(world, second.answer).then((each) => each.text()),
      ),
    ).toBe(CHUNK + DONE);
  });

  it("of a stream that is partly with the first caller is another request", async () => {
    const world = await given();
    const ask = { ...ASK, stream: true };
    const first = attempt(world, 0, ask);
    const call = await nextCall(world);
    void call.stream().send(CHUNK);
    await (await settled(world, first.answer)).body?.cancel();
    await quiet(world);

    const second = attempt(world, 1, ask);
    const other = await nextCall(world);
    void other.stream().send(DONE);
    other.end();

    expect(
      await settled(
        world,
        settled(world, second.answer).then((each) => each.text()),
      ),
    ).toBe(DONE);
  });

  it.each([
    ["that does not count", null, ASK, {}],
    ["that counts from zero", 0, ASK, {}],
    ["with another body", 1, { ...ASK, seed: 1 }, {}],
    ["of another endpoint", 1, ASK, { path: "/v1/completions" }],
  ])("%s is another request", async (_what, count, body, more) => {
    const world = await given();
    const first = attempt(world, 0);
    await nextCall(world);
    await first.leave();

    const second = attempt(world, count, body, more);
    (await nextCall(world)).answer(ANSWER);

    expect((await settled(world, second.answer)).status).toBe(200);
    expect(world.backend.calls).toHaveLength(2);
  });

  it("takes nothing from a twin who still waits", async () => {
    const world = await given();
    const [twin, first] = [attempt(world, 0), attempt(world, 0)];
    const calls = [await nextCall(world), await nextCall(world)];
    await first.leave();

    const [second, third] = [attempt(world, 1), attempt(world, 1)];
    await quiet(world);
    calls.push(await nextCall(world));
    for (const [i, call] of calls.entries()) call.answer(`answer ${i}`);
    const texts = await settled(
      world,
      Promise.all([twin, second, third].map(async (each) => (await each.answer).text())),
    );

    expect(texts).toEqual(["answer 0", "answer 1", "answer 2"]);
  });

  it("after a redirect takes up the stored job, also from another router after a kill", async () => {
    const before = await given();
    await settled(before, attempt(before, 0).answer);
    await nextCall(before);
    await passes(before, 3_000);
    const after = await given({ database: before.database, clock: before.clock });

    const second = attempt(after, 1);
    (await nextCall(after)).answer(ANSWER);

    expect(await (await settled(after, second.answer)).text()).toBe(ANSWER);
    expect(await jobs(after)).toEqual(["completed"]);
  });

  it("after a redirect gets the answer that was finished in between, unless it was read", async () => {
    const world = await given();
    const path = (await settled(world, attempt(world, 0).answer)).headers.get("location") ?? "";
    (await nextCall(world)).answer(ANSWER);
    await quiet(world);

    const second = await settled(world, attempt(world, 1).answer);
    await passes(world, 2_000);
    const third = attempt(world, 1);
    (await nextCall(world)).answer("another");

    expect(path).toMatch(/^\.\.\/jobs\//);
    expect(await second.text()).toBe(ANSWER);
    expect(await (await settled(world, third.answer)).text()).toBe("another");
  });
});

describe("a caller who leaves and does not come back", () => {
  it("frees the engine after the orphan time at most, though its SDK always counts", async () => {
    const world = await given();
    const first = attempt(world, 0);
    const call = await nextCall(world);
    await first.leave();
    await passes(world, 9_000);
    expect(call.aborted).toBe(false);

    await passes(world, 2_500);

    expect(call.aborted).toBe(true);
    expect(await jobs(world)).toEqual(["cancelled"]);
  });

  it("leaves no answer in memory after that", async () => {
    const world = await given();
    const first = attempt(world, 0);
    const call = await nextCall(world);
    await first.leave();
    call.answer(ANSWER);
    await passes(world, 11_000);

    const second = attempt(world, 1);
    (await nextCall(world)).answer("another");

    expect(await (await settled(world, second.answer)).text()).toBe("another");
  });
});
