// Between two hops of the ladder: who comes back, who does not, and what the job costs meanwhile.

import { describe, expect, it } from "vitest";
import { given as router } from "../given.ts";
import { ANSWER, ASK, get, given, nextCall, passes, post, quiet, settled } from "./given.ts";
import { onLadder, SDK, statusOf, target } from "./on-ladder.ts";

const SLOW = JSON.stringify({ model: "slow", messages: [{ role: "user", content: "hi" }], max_tokens: 4 });

describe("between two hops", () => {
  it("a caller who does not follow has its job cancelled after the orphan time", async () => {
    const world = await given();
    const { id, path } = await onLadder(world, {});
    const call = await nextCall(world);
    await passes(world, 8_000);

    expect(await statusOf(world, id)).toBe("in_progress");
    await passes(world, 4_000);

    expect(await statusOf(world, id)).toBe("cancelled");
    expect(call.aborted).toBe(true);
    const late = await settled(world, get(world, path));
    expect([late.status, ((await late.json()) as { error: { reason: string } }).error.reason]).toEqual([
      400,
      "disconnect",
    ]);
  });

  it.each([
    ["at once when it cannot come back", {}, 0],
    ["after the orphan time when its SDK counts", SDK, 10_000],
  ])("a hop whose socket closes gives the job up, %s", async (_when, headers, orphanMs) => {
    const world = await given();
    const { id, path } = await onLadder(world, headers);
    await passes(world, 1_000);
    const left = new AbortController();
    const hop = world.app.request(path, { headers, signal: left.signal });
    await passes(world, 20_000);
    left.abort();
    await hop;
    await passes(world, Math.max(0, orphanMs - 2_000));

    expect(await statusOf(world, id)).toBe(orphanMs === 0 ? "cancelled" : "in_progress");
    await passes(world, 4_000);
    expect(await statusOf(world, id)).toBe("cancelled");
  });

  it("one follower who leaves does not take the job from the other", async () => {
    const world = await given();
    const { id, path } = await onLadder(world, {});
    const left = new AbortController();
    const [first, second] = [world.app.request(path, { signal: left.signal }), get(world, path)];
    await quiet(world);
    left.abort();
    await first;
    await passes(world, 30_000);

    expect(await statusOf(world, id)).toBe("in_progress");
    (await nextCall(world)).answer(ANSWER);
    expect((await settled(world, second)).status).toBe(200);
  });

  it("a job with a receipt is polled by each hop, and none of them gives it up", async () => {
    const world = await given();
    const receipt = await settled(world, post(world, ASK, { headers: { prefer: "respond-async" } }));
    const { id } = (await receipt.json()) as { id: string };
    const first = await settled(world, get(world, `/v1/jobs/${id}/result`));
    const path = target(first, `/v1/jobs/${id}/result`);
    const left = new AbortController();
    const hop = world.app.request(path, { signal: left.signal });
    await passes(world, 5_000);
    left.abort();
    await hop;
    await passes(world, 50_000);

    expect(await statusOf(world, id)).toBe("in_progress");
    (await nextCall(world)).answer(ANSWER);
    expect((await settled(world, get(world, path))).status).toBe(200);
  });

  it.each([
    ["goes on when its caller is back in a moment", 500, ["slow", "quick"]],
    ["is given up when its caller is not", 9_000, ["quick", "slow"]],
  ])("a load that others wait against %s", async (_what, gapMs, order) => {
    const world = await router({ models: { slow: { loadMs: 120_000 }, quick: {} }, policy: "fifo" });
    const ask = { method: "POST", headers: { "content-type": "application/json", ...SDK }, body: SLOW };
    const first = world.app.request("/v1/chat/completions", ask);
    world.arrive("quick", { atMs: 10_000 });
    let at = target(await world.answer(first), "/v1/chat/completions");
    await world.advance(gapMs);
    for (let response: Response | null = null; response?.status !== 200; ) {
      response = await world.answer(world.app.request(at, { headers: SDK }));
      if (response.status === 303) at = target(response, at);
    }
    await world.runUntilIdle();

    expect(world.order()).toEqual(order);
  });
});

it("a router that is killed in the middle of the ladder: the next one runs the job and answers the next hop", async () => {
  const before = await given();
  const { path } = await onLadder(before);
  await nextCall(before);

  const after = await given({ database: before.database, clock: before.clock });
  const hop = get(after, path, SDK);
  (await nextCall(after)).answer(ANSWER);

  expect(await (await settled(after, hop)).text()).toBe(ANSWER);
});
