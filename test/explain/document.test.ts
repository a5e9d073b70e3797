import { describe, expect, it } from "vitest";
import type { ExplanationWire } from "../../src/client/wire-explain.ts";
import type { JobId, ModelName } from "../../src/domain/ids.ts";
import { splitLife } from "../../src/domain/partition.ts";
import { type Explanation, explainJob } from "../../src/explain/document.ts";
import { DECISIONS_MAX, readExplanation } from "../../src/explain/read.ts";
import { withWireStatus } from "../../src/http/status-words.ts";
import { type Arrived, given } from "../given.ts";
import { decisionOf, jobIn, OTHER_MODEL, queued, START_MS, waitOf } from "./given.ts";

const MODELS = { chat: { loadMs: 10_000 }, code: { loadMs: 20_000 } };
const SCORE = { policy: "model-score", scheduler: { maxWaitSeconds: 120, ageWeight: 0 }, resident: "chat" };

/** `chat` is busy for three minutes; a job of `code` has to wait for the ceiling. */
async function heldWorld() {
  const world = await given({ models: MODELS, ...SCORE });
  for (let atMs = 0; atMs < 180_000; atMs += 1_000) world.arrive("chat", { atMs, tokens: 640 });
  const waiter = world.arrive("code", { atMs: 5_000 });
  const told = async ({ id }: Arrived): Promise<ExplanationWire> => {
    const response = await world.answer(world.app.request(`/v1/jobs/${id}/explain`));
    expect(response.status).toBe(200);
    return (await response.json()) as ExplanationWire;
  };
  return { world, waiter, told };
}

function expectWhole(told: Omit<ExplanationWire, "status">): void {
  expect(told.total_ms).toBe(told.to_ms - told.from_ms);
  expect(told.wait_ms + told.run_ms).toBe(told.total_ms);
  expect(told.parts.reduce((sum, { ms }) => sum + ms, 0)).toBe(told.total_ms);
  expect(told.stretches.map(({ from_ms }) => from_ms)).toEqual([
    ...(told.stretches.length > 0 ? [told.from_ms] : []),
    ...told.stretches.slice(0, -1).map(({ to_ms }) => to_ms),
  ]);
  for (const { share } of told.parts) expect(share).toBeGreaterThan(0);
}

describe("an explanation", () => {
  it("says what held a job, what brought it in, and with which scores", async () => {
    const { world, waiter, told } = await heldWorld();
    await world.runUntilIdle();

    const explanation = await told(waiter);

    expectWhole(explanation);
    expect(explanation).toMatchObject({ status: "completed", final: true, partial: false, merged: 0, expected: null });
    const causes = explanation.parts.map(({ cause, rule, by }) => [cause, rule, by]);
    expect(causes).toContainEqual(["held", "score", "chat"]);
    expect(causes).toContainEqual(["loading", null, null]);
    expect(causes.at(-1)).toEqual(["running", null, null]);
    const held = explanation.parts.find(({ cause }) => cause === "held");
    expect(held?.ms).toBeGreaterThan(100_000);
    const decisions = new Map(explanation.decisions.map((each) => [each.id, each]));
    expect(decisions.get(held?.decision ?? "")).toMatchObject({
      ...{ kind: "hold", reason: "resident_wins", device: "gpu0" },
      ...{ own: { depth: 1 }, winner: { model: "chat" } },
    });
    const longest = explanation.decisions.reduce((a, b) => (b.times > a.times ? b : a));
    expect(longest.times).toBeGreaterThan(20);
    expect(longest.trail.length).toBeGreaterThan(2);
    for (const [at, own, winner] of longest.trail) {
      expect(at).toBeGreaterThanOrEqual(longest.at_ms);
      expect(at).toBeLessThanOrEqual(longest.last_at_ms);
      expect(own).toBeLessThan(winner ?? Number.NaN);
    }
    const swap = { kind: "swap", reason: "ceiling", winner: { model: "code" } };
    expect(explanation.decisions).toContainEqual(
      expect.objectContaining({ ...swap, winner: expect.objectContaining(swap.winner) }),
    );
    expect(explanation.summary).toContain("ceiling");
  });

  it("of a live job is the same document, only grows, and says when its turn is expected", async () => {
    const { world, waiter, told } = await heldWorld();
    await world.advance(60_000);
    const early = await told(waiter);
    await world.advance(30_000);
    const later = await told(waiter);

    for (const each of [early, later]) expectWhole(each);
    expect(early).toMatchObject({ status: "queued", final: false, partial: false, expected: { position: 0 } });
    const settled = early.stretches.slice(0, -1);
    expect(later.stretches.slice(0, settled.length)).toEqual(settled);
    expect(later.total_ms - early.total_ms).toBeGreaterThanOrEqual(30_000);
    expect(later.stretches.at(-1)).toMatchObject({ cause: "held", by: "chat" });
  });

  it("is read from the store alone with the same words and numbers", async () => {
    const { world, waiter, told } = await heldWorld();
    await world.runUntilIdle();

    const stored = await readExplanation(world.store, waiter.id as JobId, {
      ...{ nowMs: world.clock.nowMs() + 86_400_000, label: (model: ModelName) => model, place: null, observes: true },
    });

    expect(stored && withWireStatus(stored)).toEqual(await told(waiter));
  });

  it("names no other job", async () => {
    const { world, waiter, told } = await heldWorld();
    await world.runUntilIdle();

    const text = JSON.stringify(await told(waiter));

    const ids = text.match(/job_[0-9a-f]{32}/g) ?? [];
    expect(new Set(ids)).toEqual(new Set([waiter.id]));
  });

  it("says that it is partial once the records have gone, and gives what was summed up", async () => {
    const { world, waiter, told } = await heldWorld();
    await world.runUntilIdle();
    const whole = await told(waiter);
    const forgetful = { ...world.store, ...gone(world.store) } as typeof world.store;

    const partial = await readExplanation(forgetful, waiter.id as JobId, {
      ...{ nowMs: world.clock.nowMs(), label: (model: ModelName) => model, place: null, observes: true },
    });

    expect(partial).toMatchObject({ partial: true, stretches: [], decisions: [], total_ms: whole.total_ms });
    expectWhole(partial as Explanation);
    const sums = (of: Pick<ExplanationWire, "parts"> | null) => of?.parts.map(({ cause, ms }) => [cause, ms]);
    const byCause = new Map<string, number>();
    for (const { cause, ms } of whole.parts) byCause.set(cause, (byCause.get(cause) ?? 0) + ms);
    expect(sums(partial)).toEqual([...byCause]);
  });

  it("of nobody's job is a 404", async () => {
    const { world } = await heldWorld();

    const response = await world.answer(world.app.request(`/v1/jobs/job_${"0".repeat(32)}/explain`));

    expect(response.status).toBe(404);
  });
});

/** What a store says a week later. */
function gone(store: Awaited<ReturnType<typeof heldWorld>>["world"]["store"]) {
  return {
    job: (id: JobId) => store.job(id),
    attempts: (id: JobId) => store.attempts(id),
    waits: async () => [],
    downtimes: async () => [],
    decision: async () => null,
    about: { loads: async () => [], decisions: async () => [] },
  };
}

describe("a document", () => {
  const telling = { label: (model: ModelName) => model, place: null, observes: true, nowMs: START_MS + 100_000 };

  it("leaves out who paused it for those who may not know other callers", () => {
    const detail = { scope: "router", who: "maria", note: "driver update" } as const;
    const job = jobIn(queued);
    const facts = {
      job,
      nowMs: telling.nowMs,
      attempts: [],
      downtimes: [],
      waits: [waitOf("paused", 0, null, { detail })],
    };
    const split = splitLife(facts);

    const seen = explainJob({ ...telling, job, split, decisions: [] });
    const hidden = explainJob({ ...telling, job, split, decisions: [], observes: false });

    expect(JSON.stringify(seen)).toContain("maria");
    expect(JSON.stringify(hidden)).not.toContain("maria");
    expect(JSON.stringify(hidden)).toContain("driver update");
  });

  it("has at most so many decisions, the first, the last and what held it longest among them", async () => {
    const sketches = Array.from({ length: 500 }, (_, i) => decisionOf(`dec_${String(i).padStart(3, "0")}`, i * 100));
    const longest = sketches[250];
    const job = jobIn(queued);
    const waits = sketches.map(({ id, atMs }, i) =>
      waitOf("held", atMs - START_MS, i === 250 ? 60_000 : atMs - START_MS + 100, {
        ...{ rule: "score", by: OTHER_MODEL, decision: id },
      }),
    );
    const reader = {
      job: async () => job,
      attempts: async () => [],
      waits: async () => waits.filter((_, i) => i <= 250),
      downtimes: async () => [],
      about: { loads: async () => [], decisions: async () => sketches.toReversed() },
      decision: async (id: string) => sketches.find((each) => each.id === id) ?? null,
    };

    const told = await readExplanation(reader, job.id, telling);

    const ids = told?.decisions.map(({ id }) => id) ?? [];
    expect(ids.length).toBeLessThanOrEqual(DECISIONS_MAX);
    expect(ids).toContain(longest?.id);
    expect(ids).toContain("dec_000");
    expect(ids.at(-1)).toBe("dec_499");
    expect(ids).toEqual([...ids].sort());
  });
});
