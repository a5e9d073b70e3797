import { expect, test } from "vitest";
import type { QueueWire, Receipt } from "../../src/client/wire.ts";
import type { RouterEvent } from "../../src/domain/event.ts";
import { poisson } from "../../src/simulator/arrivals.ts";
import { replay } from "../../src/simulator/replay.ts";
import { createSeeded } from "../../src/simulator/seeded.ts";
import { type Arrival, merge, simulatedModel } from "../../src/simulator/workload.ts";
import { given } from "../given.ts";

const HOUR_MS = 3_600_000;
const MODELS = {
  small: { loadMs: 10_000, tokensPerSecond: 40, slowdownPerJob: 0.05 },
  large: { loadMs: 60_000, tokensPerSecond: 20, slowdownPerJob: 0.07 },
};

interface Ask {
  readonly atMs: number;
  readonly model: string;
  readonly tokens: number;
}

/** Each asks with a receipt; what the receipts said of their place, and what was scored. */
async function receipts(policy: string, asks: readonly Ask[]) {
  const world = await given({ models: MODELS, policy });
  const places: (QueueWire | null)[] = [];
  let open = asks.length;
  const post = async ({ model, tokens }: Ask): Promise<void> => {
    const response = await world.app.request("/v1/chat/completions", {
      method: "POST",
      headers: { "content-type": "application/json", prefer: "respond-async", "sir-lease": "none" },
      body: JSON.stringify({ model, max_tokens: tokens, messages: [{ role: "user", content: "hi" }] }),
    });
    places.push(((await response.json()) as Receipt).queue);
    open--;
  };
  const fromMs = world.clock.nowMs();
  for (const ask of asks) world.clock.at(fromMs + ask.atMs, () => void post(ask));
  await world.clock.runWhile(() => open > 0, fromMs + 100 * HOUR_MS);
  await world.runUntilIdle();
  return { places, scored: world.ofType("job.estimated").filter(({ of }) => of === "answer") };
}

function atRandom(seed: number, perHour: number, hours: number): Ask[] {
  const seeded = createSeeded(seed);
  const streams = Object.keys(MODELS).map((model) =>
    poisson(seeded.fork(model), { model, tokens: 100 }, perHour, 0, hours * HOUR_MS),
  );
  return merge(...streams);
}

test("nothing is estimated before a model's first run, and no range is stated before twenty outcomes", async () => {
  const { places, scored } = await receipts("longest", atRandom(1, 60, 1));
  expect(places[0]).toMatchObject({ estimated_seconds: null, estimate: null });
  expect(scored.findIndex(({ hit }) => hit !== null)).toBeGreaterThanOrEqual(20);
  const ranged = places.find((place) => place?.estimate != null);
  expect(ranged?.estimate?.low_seconds).toBeLessThan(ranged?.estimated_seconds ?? 0);
  expect(ranged?.estimate?.high_seconds).toBeGreaterThan(ranged?.estimated_seconds ?? 0);
  expect(ranged?.estimate?.mid_seconds).toBe(ranged?.estimated_seconds);
  expect(places[0]?.start).toBeNull();
  const { start } = places.find((place) => place?.start != null && place.start.low_seconds > 1) ?? {};
  expect(start?.observations).toBeGreaterThanOrEqual(20);
  expect(start?.low_seconds).toBeLessThan(start?.mid_seconds ?? 0);
  expect(start?.high_seconds).toBeGreaterThan(start?.mid_seconds ?? 0);
});

/** The share of judged estimates whose truth lay in the range; each caller asks at once. */
async function hitsOf(policy: string, asks: readonly Ask[], of: "start" | "answer", model: string | null = null) {
  const models = Object.entries(MODELS).map(([name, facts]) => simulatedModel(name, facts));
  const arrivals = asks.map((ask): Arrival => ({ ...ask, priority: 0 }));
  const judged: boolean[] = [];
  const hear = (event: RouterEvent): void => {
    if (event.type !== "job.estimated" || event.of !== of || event.hit === null) return;
    if (model === null || event.model === model) judged.push(event.hit);
  };
  const workload = { name: "asked", source: "", models, arrivals, untilMs: null };
  await replay(workload, { title: policy, scheduler: { policy }, lean: true, asks: true }, { hear });
  return { judged: judged.length, share: judged.filter(Boolean).length / judged.length };
}

const POLICIES = ["stint", "model-score", "longest", "serial", "fifo"] as const;
test.each([
  ...POLICIES.map((policy) => [policy, "answer"] as const),
  ...(["stint", "model-score"] as const).map((policy) => [policy, "start"] as const),
])("%s: the truth of a job's %s lies in the stated range about eight times of ten", async (policy, of) => {
  const { judged, share } = await hitsOf(policy, atRandom(2, 150, 4), of);
  expect(judged).toBeGreaterThan(300);
  expect(share).toBeGreaterThan(0.65);
  expect(share).toBeLessThan(0.95);
});

test("the estimate of a job behind a swap counts the stop, the load and the run", async () => {
  const { places } = await receipts("longest", [
    { atMs: 0, model: "small", tokens: 40 },
    { atMs: 200_000, model: "large", tokens: 40 },
    { atMs: 600_000, model: "small", tokens: 40 },
  ]);
  // unload 0.5 s, load 10 s, first token 0.2 s, 40 tokens at 40/s
  expect(places.at(-1)?.estimated_seconds).toBeCloseTo(0.5 + 10 + 1.2, 1);
});

test("a burst of hundreds does not decide alone what the next one is told", async () => {
  const hours = [0, 1, 2, 3, 4, 5];
  const bursts = hours.flatMap((hour): Ask[] =>
    Array.from({ length: 200 }, (_, i) => ({ atMs: hour * HOUR_MS + 1_000 + i * 50, model: "large", tokens: 100 })),
  );
  const { judged, share } = await hitsOf(
    "longest",
    [...bursts, ...atRandom(3, 60, 6)].sort((a, b) => a.atMs - b.atMs),
    "answer",
    "large",
  );
  expect(judged).toBeGreaterThan(600);
  expect(share).toBeGreaterThan(0.7);
});
