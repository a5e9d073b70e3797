// Behind how many jobs of its own model a job stood is counted as they are started, and how long an answer took to begin is
// noticed as it does: both are kept with the job, whatever its end, and nothing is said that nobody saw.

import { describe, expect, it, onTestFinished } from "vitest";
import type { Backend } from "../../src/backends/backend.ts";
import type { JobId, ModelName } from "../../src/domain/ids.ts";
import { readExplanation } from "../../src/explain/read.ts";
import { type Ask, openRig, Rig } from "./rig.ts";

const models = { a: { loadSeconds: 5, concurrency: 1, firstTokenSeconds: 2 }, b: { loadSeconds: 5 } };
const INTERACTIVE = { leaseMs: null, priority: 100 };
const NORMAL = { leaseMs: null };
const BATCH = { leaseMs: null, priority: -100 };

async function close(rig: Rig): Promise<void> {
  const closed = rig.engine.close();
  await rig.advance(400);
  await closed;
  await rig.store.close();
}

/** As most engines do: a stream's head is sent before there is a token. */
function eager(backend: Backend): Backend {
  const run = backend.run.bind(backend);
  return Object.assign(backend, {
    run: (...[instance, call, sink, signal]: Parameters<Backend["run"]>) => {
      sink.head({ status: 200, headers: {} });
      return run(instance, call, { head: () => undefined, chunk: (bytes) => sink.chunk(bytes) }, signal);
    },
  });
}

async function open(): Promise<Rig> {
  const rig = await openRig({ models, scheduler: { policy: "stint" }, wrap: eager });
  onTestFinished(() => close(rig));
  await rig.engine.operator.load("a" as ModelName);
  await rig.advance(6);
  return rig;
}

async function told(rig: Rig, id: JobId) {
  await rig.advance(0.1);
  const noticed = rig.engine.latest.noticed(id);
  const label = (model: ModelName): string => model;
  const telling = { nowMs: rig.clock.nowMs(), label, place: null, observes: true, noticed };
  const explanation = await readExplanation(rig.store, id, telling);
  return new Map(explanation?.parts.map((part) => [part.cause, part]));
}

const submitAll = (rig: Rig, asks: readonly Ask[]): Promise<JobId[]> =>
  Promise.all(asks.map((ask) => rig.submit("a", ask)));

describe("behind its own model's jobs", () => {
  it("a job counts those that were started while it waited, later ones too, and those of higher bands", async () => {
    const rig = await open();
    const [, , normal, batch] = (await submitAll(rig, [NORMAL, NORMAL, NORMAL, BATCH])) as JobId[];
    await rig.advance(1);
    await submitAll(rig, [INTERACTIVE, INTERACTIVE]);
    await rig.advance(4);

    const waiting = await told(rig, batch as JobId);
    await rig.advance(60);

    expect(waiting.get("own_queue")).toMatchObject({ went_first: 2, went_first_higher: 2 });
    expect((await told(rig, normal as JobId)).get("own_queue")).toMatchObject({ went_first: 4, went_first_higher: 2 });
    expect((await told(rig, batch as JobId)).get("own_queue")).toMatchObject({
      ...{ went_first: 5, went_first_higher: 5 },
      text: "every slot was taken and 5\u00a0jobs of its own model went first (5 of them in a higher band)",
    });
    expect((await rig.job(batch as JobId)).spent?.wentFirst).toEqual({ jobs: 5, higher: 5 });
  });

  it("a job that is cancelled as it waits keeps its count", async () => {
    const rig = await open();
    const ids = await submitAll(rig, [NORMAL, NORMAL, NORMAL]);
    await rig.advance(4);

    await rig.engine.cancel(ids[2] as JobId, "client");

    expect((await rig.job(ids[2] as JobId)).spent?.wentFirst).toEqual({ jobs: 2, higher: 0 });
  });

  it("a job that an earlier router had queued says nothing of a number that nobody knows", async () => {
    const first = await openRig({ models, scheduler: { policy: "stint" } });
    const [, second] = await submitAll(first, [NORMAL, NORMAL, NORMAL]);
    await first.advance(6);
    await close(first);
    const rig = await new Rig({ models, database: first.database, clock: first.clock, seed: 2 }).open();
    onTestFinished(() => close(rig));
    await rig.advance(60);

    const { spent } = await rig.job(second as JobId);

    expect(spent?.parts.map(({ cause }) => cause)).toContain("own_queue");
    expect(spent?.wentFirst).toBeUndefined();
  });
});

describe("a run", () => {
  it("of a stream is split where its answer began, while it goes on and when it is over, and adds up exactly", async () => {
    const rig = await open();
    const id = await rig.submit("a", { ...NORMAL, stream: true, tokens: 640 });
    await rig.advance(1);
    const early = (await told(rig, id)).get("running");
    await rig.advance(5);
    const live = (await told(rig, id)).get("running");
    await rig.advance(60);
    const final = (await told(rig, id)).get("running");

    expect(early).toMatchObject({ first_token_ms: early?.ms, generating_ms: 0 });
    expect(early?.text).toContain("no byte of its answer has come yet");
    for (const part of [live, final]) {
      expect(part?.first_token_ms).toBeGreaterThanOrEqual(2_000);
      expect(part?.first_token_ms).toBeLessThan(2_100);
      expect((part?.first_token_ms ?? 0) + (part?.generating_ms ?? 0)).toBe(part?.ms);
    }
    expect(final?.text).toContain("2\u00a0s to the first byte of its answer");
  });

  it("of a stream that is cancelled keeps when its answer began", async () => {
    const rig = await open();
    const id = await rig.submit("a", { ...NORMAL, stream: true, tokens: 640 });
    await rig.advance(5);

    await rig.engine.cancel(id, "client");

    const part = (await told(rig, id)).get("running");
    expect(part?.first_token_ms).toBeGreaterThanOrEqual(2_000);
    expect(part?.generating_ms).toBeGreaterThan(2_000);
  });

  it("whose answer comes in one piece says nothing of its first token", async () => {
    const rig = await open();
    const id = await rig.submit("a", NORMAL);
    await rig.advance(30);

    const part = (await told(rig, id)).get("running");

    expect(part).toMatchObject({ first_token_ms: null, generating_ms: null, text: "the engine worked on it" });
  });
});
