// Faults that users of job queues reported, each as steps and the right behaviour.

import { afterEach, describe, expect, it } from "vitest";
import { openRig, type Rig, type RigOptions } from "./rig.ts";

const rigs: Rig[] = [];
const open = async (options: RigOptions): Promise<Rig> => {
  const rig = await openRig(options);
  rigs.push(rig);
  return rig;
};
afterEach(() => {
  for (const rig of rigs.splice(0)) expect(rig.faults).toEqual([]);
});

describe("leases", () => {
  it("cancel what nobody polls for, and its engine call within a second", async () => {
    const rig = await open({ models: { a: { tokensPerSecond: 1, concurrency: 1 } } });
    const abandoned = await rig.submit("a", { tokens: 600, leaseMs: 20_000 });
    const next = await rig.submit("a", { tokens: 5, leaseMs: null });

    await rig.advance(21.5);
    const { state } = await rig.job(abandoned);
    await rig.advance(8);

    expect(state).toMatchObject({ status: "cancelled", reason: "lease_expired" });
    expect(await rig.statuses([next])).toEqual(["succeeded"]);
    expect(rig.of("job.dispatched").find(({ job }) => job === next)?.atS).toBeLessThan(21.5);
  });

  it("never lapse for a caller who polls at a third of the lease, for three times every timeout", async () => {
    const rig = await open({ models: { a: { tokensPerSecond: 1 } } });
    const id = await rig.submit("a", { tokens: 900, leaseMs: 60_000 });

    for (let at = 0; at < 920; at += 20) {
      await rig.advance(20);
      rig.engine.renew(id);
    }

    expect(await rig.job(id)).toMatchObject({ state: { status: "succeeded" }, attempts: 1, interruptions: 0 });
    expect(rig.of("job.dispatched")).toHaveLength(1);
  });

  it("an abandoned job can never cause a swap", async () => {
    const rig = await open({
      models: { a: { loadSeconds: 5 }, b: { loadSeconds: 5 } },
      scheduler: { maxWaitSeconds: 100 },
    });
    rig.schedule(
      "a",
      Array.from({ length: 600 }, (_, i) => i * 0.5),
    );
    await rig.advance(10);

    const abandoned = await rig.submit("b", { leaseMs: 15_000 });
    await rig.advance(200);

    expect((await rig.job(abandoned)).state).toMatchObject({ status: "cancelled", reason: "lease_expired" });
    expect(rig.moves().some(({ load }) => load === "b")).toBe(false);
  });

  it("ten thousand lapses in the queue leave nothing behind", async () => {
    const rig = await open({ models: { a: { loadSeconds: 3_600 } }, scheduler: { maxWaitSeconds: 36_000 } });
    for (let i = 0; i < 10_000; i++) await rig.submit("a", { leaseMs: 5_000 });
    expect(rig.engine.status().queued).toBe(10_000);

    await rig.advance(10);

    expect(rig.engine.status().queued).toBe(0);
    expect(rig.engine.queue.queuedTotal()).toBe(0);
    const live = rig.database.prepare("SELECT count(*) AS n FROM jobs WHERE status < 2").get() as { n: number };
    expect(live.n).toBe(0);
  });
});

describe("deadlines", () => {
  it("expire what has not started and cancel what runs", async () => {
    const rig = await open({ models: { a: { tokensPerSecond: 1, concurrency: 1 } } });
    const running = await rig.submit("a", { tokens: 100, deadlineMs: 30_000, leaseMs: null });
    const waiting = await rig.submit("a", { deadlineMs: 10_000, leaseMs: null });

    await rig.advance(40);

    expect((await rig.job(waiting)).state.status).toBe("expired");
    expect((await rig.job(running)).state).toMatchObject({ status: "cancelled", reason: "deadline" });
    expect(rig.engine.status().running).toBe(0);
  });
});

describe("a job that kills its engine", () => {
  it("ends as poison, and the twenty good ones beside it finish", async () => {
    const rig = await open({
      models: { a: { loadSeconds: 2, concurrency: 8 } },
      faults: { request: (_, nth) => (nth > 8 && nth % 9 === 0 ? { kind: "die", afterTokens: 1 } : null) },
    });
    const good = await Promise.all(Array.from({ length: 20 }, () => rig.submit("a", { tokens: 4, leaseMs: null })));

    await rig.advance(600);

    expect((await rig.statuses(good)).every((status) => status === "succeeded")).toBe(true);
  });

  it("is given up after ten interruptions when it kills it each time", async () => {
    const rig = await open({
      models: { a: { loadSeconds: 2 } },
      faults: { request: () => ({ kind: "die", afterTokens: 1 }) },
    });
    const boom = await rig.submit("a", { leaseMs: null });

    await rig.advance(1_200);

    const job = await rig.job(boom);
    expect(job.state).toMatchObject({ status: "failed", error: { code: "poison" } });
    expect(rig.of("job.dispatched")).toHaveLength(10);
  });
});

describe("an engine that dies while idle", () => {
  it("leaves the resident set at once, and the next job finds a fresh one", async () => {
    const rig = await open({
      models: { a: { loadSeconds: 2 } },
      faults: { load: (_, nth) => (nth === 1 ? { kind: "die_later", afterMs: 30_000 } : null) },
    });
    await rig.submit("a", { leaseMs: null });
    await rig.advance(60);
    const state = rig.engine.status().models[0]?.state;

    const id = await rig.submit("a", { leaseMs: null });
    await rig.advance(10);

    expect(state).toBe("absent");
    expect(await rig.job(id)).toMatchObject({ state: { status: "succeeded" }, interruptions: 0 });
  });
});

describe("an engine's refusals", () => {
  it("go to their caller at once and touch nothing else", async () => {
    const rig = await open({
      models: { a: { concurrency: 4 } },
      faults: { request: (_, nth) => (nth === 2 ? { kind: "status", status: 422, body: '{"detail":"no"}' } : null) },
    });
    const ids = await Promise.all(Array.from({ length: 4 }, () => rig.submit("a", { leaseMs: null })));

    await rig.advance(10);

    expect((await rig.statuses(ids)).toSorted()).toEqual(["failed", "succeeded", "succeeded", "succeeded"]);
    const failed = (await Promise.all(ids.map((id) => rig.job(id)))).find(({ state }) => state.status === "failed");
    const result = failed === undefined ? null : await rig.store.result(failed.id);
    expect(failed?.attempts).toBe(1);
    expect(result?.status).toBe(422);
    expect(Buffer.from(result?.body ?? []).toString()).toBe('{"detail":"no"}');
    expect(rig.of("load.started")).toHaveLength(1);
  });

  it.each(["no_terminator", "in_band_error", "cut"] as const)(
    "an answer that ends by %s is a failure and is tried again, not a success",
    async (kind) => {
      const fault = kind === "no_terminator" ? { kind } : { kind, afterTokens: 3 };
      const rig = await open({ models: { a: {} }, faults: { request: (_, nth) => (nth === 1 ? fault : null) } });

      const id = await rig.submit("a", { stream: true, leaseMs: null });
      await rig.advance(20);

      expect(await rig.job(id)).toMatchObject({ state: { status: "succeeded" }, attempts: 2, interruptions: 0 });
    },
  );

  it("429 and 503 cost an interruption and hold the model back for as long as the engine says", async () => {
    const busy = { kind: "status", status: 429, retryAfterMs: 20_000 } as const;
    const rig = await open({ models: { a: {} }, faults: { request: (_, nth) => (nth === 1 ? busy : null) } });

    const id = await rig.submit("a", { leaseMs: null });
    await rig.advance(15);
    const early = (await rig.job(id)).state.status;
    await rig.advance(15);

    expect(early).toBe("queued");
    expect(await rig.job(id)).toMatchObject({ state: { status: "succeeded" }, attempts: 1, interruptions: 1 });
  });
});

describe("a driver that throws", () => {
  it("does not end the loop: the other model is served", async () => {
    const rig = await open({
      models: { bad: {}, good: {} },
      faults: {
        load: ({ model }) => {
          if (model === "bad") throw new TypeError("undefined is not a function");
          return null;
        },
      },
    });
    await rig.submit("bad", { leaseMs: null });
    const id = await rig.submit("good", { leaseMs: null });

    await rig.advance(120);

    expect(await rig.statuses([id])).toEqual(["succeeded"]);
    expect(rig.engine.readiness().ready).toBe(true);
  });
});

describe("an abort that the engine ignores", () => {
  it("frees the slot after the grace time", async () => {
    const rig = await open({
      models: { a: { concurrency: 1 } },
      jobs: { cancelGraceSeconds: 5 },
      faults: { request: (_, nth) => (nth === 1 ? { kind: "hang", afterTokens: 0, ignoresAbort: true } : null) },
    });
    const stuck = await rig.submit("a", { leaseMs: null });
    const next = await rig.submit("a", { leaseMs: null });
    await rig.advance(10);

    await rig.engine.cancel(stuck, "client");
    await rig.advance(4);
    const early = (await rig.job(next)).state.status;
    await rig.advance(4);

    expect(early).toBe("queued");
    expect(await rig.statuses([stuck, next])).toEqual(["cancelled", "succeeded"]);
  });
});
