import { expect, test } from "vitest";
import type { Receipt } from "../../src/client/wire.ts";
import type { Place } from "../../src/engine/control.ts";
import { StartWatch } from "../../src/http/start-watch.ts";
import { given } from "../given.ts";
import { readerOf } from "./stream-reader.ts";

const SECOND = 1_000;

/** A place whose start is expected in `midMs`. */
function place(midMs: number, more: Partial<Place> = {}): Place {
  return {
    position: 3,
    queued: 5,
    resident: true,
    needsSwap: false,
    loadMs: 0,
    loadBoundMs: 0,
    estimatedMs: null,
    estimatedRange: null,
    start: { lowMs: midMs / 2, midMs, highMs: midMs * 2, observations: 40 },
    blocked: null,
    loading: null,
    arrived: { interactive: 0, normal: 4, batch: 0 },
    asOfMs: 100 * SECOND,
    ...more,
  };
}

test("a start is news once it has moved by a tenth of what was left, and only a later one has a reason", () => {
  const watch = new StartWatch();
  const at = (seconds: number, midMs: number, more: Partial<Place> = {}) =>
    watch.look(place(midMs, { asOfMs: seconds * SECOND, ...more }));

  expect(at(100, 60 * SECOND)).toEqual({ moved: false, because: null });
  expect(at(110, 50 * SECOND)).toEqual({ moved: false, because: null });
  expect(at(110, 54 * SECOND)).toEqual({ moved: false, because: null });
  expect(at(110, 80 * SECOND, { arrived: { interactive: 3, normal: 5, batch: 0 } })).toEqual({
    moved: true,
    because: "3\u00a0interactive jobs and 1\u00a0normal job arrived",
  });
  expect(at(111, 20 * SECOND)).toEqual({ moved: true, because: null });
  expect(at(112, 40 * SECOND, { position: 5 })).toMatchObject({ because: "2\u00a0jobs went ahead of it" });
  expect(at(113, 90 * SECOND, { position: 5 })).toMatchObject({
    because: "what is ahead of it takes longer than it did before",
  });
});

/** 25 times three jobs of 5 s each, one at a time, so that starts have been estimated and have come. */
async function taught() {
  const world = await given({
    models: { small: { loadMs: SECOND, tokensPerSecond: 10, slowdownPerJob: 0, config: { concurrency: 1 } } },
    policy: "model-score",
  });
  const post = async (priority: string): Promise<Receipt> => {
    const response = await world.app.request("/v1/chat/completions", {
      method: "POST",
      headers: {
        "content-type": "application/json",
        prefer: "respond-async",
        "sir-lease": "none",
        "sir-priority": priority,
      },
      body: JSON.stringify({ model: "small", max_tokens: 50, messages: [{ role: "user", content: "hi" }] }),
    });
    return (await response.json()) as Receipt;
  };
  for (let round = 0; round < 25; round++) {
    for (let i = 0; i < 3; i++) await post("normal");
    await world.clock.runUntil(world.clock.nowMs() + 20 * SECOND);
  }
  await world.runUntilIdle();
  return { world, post };
}

test("whoever follows a job is told why its start is expected later", async () => {
  const { world, post } = await taught();
  for (let i = 0; i < 5; i++) await post("normal");
  const { id, queue } = await post("normal");
  const reader = readerOf(await world.app.request(`/v1/jobs/${id}/events`));
  const tape = reader.record();
  await world.clock.runUntil(world.clock.nowMs() + 3 * SECOND);
  for (let i = 0; i < 6; i++) await post("interactive");
  await world.clock.runUntil(world.clock.nowMs() + 6 * SECOND);

  const told = tape.text
    .split("\n")
    .filter((line) => line.startsWith("data: "))
    .map((line) => (JSON.parse(line.slice(6)) as Receipt).queue);

  expect(queue?.start).toMatchObject({ observations: expect.any(Number) });
  expect(queue?.because).toBeNull();
  expect(told.flatMap((each) => each?.because ?? [])).toEqual(["6\u00a0interactive jobs arrived"]);
});
