// Strictness, defaults, units: what one key may hold, and what is said when it does not.

import { describe, expect, it } from "vitest";
import { mock, problems, resolve } from "./given.ts";

describe("configuration", () => {
  it("needs nothing but models: every other key has its default", () => {
    const config = resolve();

    expect(config.server).toEqual({ host: "127.0.0.1", port: 8000, bodyLimitBytes: 67_108_864, shutdownMs: 10_000 });
    expect(config.sync).toEqual({ holdMs: 50_000, redirect: true, orphanMs: 10_000 });
    expect(config.jobs).toEqual({
      leaseMs: 60_000,
      sweepMs: 1_000,
      resultTtlMs: 86_400_000,
      readTtlMs: null,
      maxAttempts: 3,
      maxInterruptions: 10,
      maxQueued: 1_000_000,
      maxStoredBytes: 21_474_836_480,
      cancelGraceMs: 10_000,
    });
    expect(config.engine.drainMs).toBe(300_000);
    expect(config.engine.policy.name).toBe("model-score");
    expect(config.engine.policy.guards).toMatchObject({ minResidencyMs: 30_000, maxWaitMs: 120_000 });
  });

  it("gives a model its defaults, in milliseconds", () => {
    const [chat] = resolve().engine.models;

    expect(chat).toMatchObject({
      name: "chat",
      label: "chat",
      aliases: [],
      upstreamName: null,
      priority: 1,
      memoryGiB: null,
      loadMs: 2_000,
      usesDevice: true,
      devices: ["gpu0"],
      pinned: false,
      preload: false,
      unloadAfterMs: null,
      maxLoadFailures: 5,
      loadTimeoutMs: 900_000,
      firstLoadTimeoutMs: 7_200_000,
      firstByteTimeoutMs: 1_800_000,
      idleTimeoutMs: 300_000,
      runTimeoutMs: 14_400_000,
      stallMs: 300_000,
    });
  });

  it("takes fractions of seconds without the dust of binary fractions", () => {
    const config = resolve({ jobs: { leaseSeconds: 1.1, sweepSeconds: 0.3 } });

    expect(config.jobs).toMatchObject({ leaseMs: 1_100, sweepMs: 300 });
  });

  it("has one device, gpu0, when none is configured", () => {
    expect(resolve().engine.devices).toEqual([{ id: "gpu0", memoryGiB: null, memoryProbe: null }]);
  });

  it("lets a model that names no device use those it fits on", () => {
    const config = resolve({
      devices: { small: { memoryGiB: 24 }, large: { memoryGiB: 80 } },
      models: { big: { memoryGiB: 40, loadSeconds: 2, backend: mock }, tiny: { memoryGiB: 8, backend: mock } },
    });

    expect(config.engine.models.map((model) => model.devices)).toEqual([["large"], ["small", "large"]]);
  });

  it("takes a list of devices for one model across all of them", () => {
    const config = resolve({
      devices: { a: { memoryGiB: 24 }, b: { memoryGiB: 24 } },
      models: {
        wide: { memoryGiB: 40, loadSeconds: 2, device: ["a", "b", "a"], backend: mock },
        one: { memoryGiB: 8, device: ["a"], backend: mock },
      },
      scheduler: { neverTogether: [["wide", "one"]] },
    });

    expect(config.engine.models.map(({ devices, across, apartFrom }) => ({ devices, across, apartFrom }))).toEqual([
      { devices: ["a", "b"], across: true, apartFrom: ["one"] },
      { devices: ["a"], across: undefined, apartFrom: ["wide"] },
    ]);
  });

  it.each([
    ["at the top", { modles: {} }, "modles", "models"],
    ["in a section", { jobs: { leaseSecond: 60 } }, "jobs.leaseSecond", "leaseSeconds"],
    ["in the scheduler", { scheduler: { maxwait: 60 } }, "scheduler.maxwait", "maxWaitSeconds"],
    ["in a model", { models: { chat: { alias: [], backend: mock } } }, "models.chat.alias", "aliases"],
    [
      "in a backend",
      { models: { "Qwen/Qwen3-8B": { backend: { driver: "mock", tokenPerSecond: 5 } } } },
      'models["Qwen/Qwen3-8B"].backend.tokenPerSecond',
      "tokensPerSecond",
    ],
  ])("refuses an unknown key %s, and guesses the right one", (_where, change, path, meant) => {
    expect(problems(change)).toEqual([{ path, text: "is not a known key.", mend: `Did you mean "${meant}"?` }]);
  });

  it("says where, what came and what is expected when a value is wrong", () => {
    const [problem] = problems({ server: { port: "eighty" } });

    expect(problem).toEqual({
      path: "server.port",
      text: 'came as "eighty".',
      mend: "Expected number, received string.",
    });
  });

  it("names every problem at once, not only the first", () => {
    const paths = problems({ server: { port: 70_000 }, jobs: { maxAttempts: 0 } }).map(({ path }) => path);

    expect(paths).toEqual(["server.port", "jobs.maxAttempts"]);
  });

  it("says that a backend is missing", () => {
    expect(problems({ models: { chat: {} } })).toMatchObject([{ path: "models.chat.backend", text: "is missing." }]);
  });

  it("knows a driver by its name, and guesses", () => {
    expect(problems({ models: { chat: { loadSeconds: 2, backend: { driver: "mok" } } } })).toEqual([
      { path: "models.chat.backend.driver", text: '"mok" is no known driver.', mend: 'Did you mean "mock"?' },
    ]);
  });

  it("does not show a value that may be a secret", () => {
    const change = {
      models: { chat: { loadSeconds: 2, backend: { driver: "remote", baseUrl: "x", apiKey: ["sk-123"] } } },
    };

    expect(JSON.stringify(problems(change))).not.toContain("sk-123");
  });

  it("accepts a negative or infinite duration nowhere", () => {
    expect(problems({ jobs: { leaseSeconds: -1 } })).toHaveLength(1);
    expect(problems({ jobs: { leaseSeconds: Number.POSITIVE_INFINITY } })).toHaveLength(1);
  });
});

describe("the policy", () => {
  it("is looked up by name, and guessed", () => {
    const [problem] = problems({ scheduler: { policy: "model-scores" } });

    expect(problem?.mend).toContain('Did you mean "model-score"?');
  });

  it("takes a number for each band, and keeps the default of a band that is left out", () => {
    const { policy } = resolve({ scheduler: { policy: "stint", weight: { batch: 0.5 } } }).engine;

    expect(policy.settings).toMatchObject({
      weight: { interactive: 10, normal: 1, batch: 0.5 },
      visitSeconds: { interactive: 1_200, normal: 5_400, batch: 43_200 },
    });
    expect(problems({ scheduler: { policy: "stint", weight: { urgent: 1 } } })).toHaveLength(1);
  });

  it("may have the settings of another policy beside its own; they are named as unused", () => {
    const config = resolve({ scheduler: { policy: "fifo", strict: true, ageWeight: 3 } });

    expect(config.unused).toEqual(["scheduler.ageWeight"]);
    expect(config.engine.policy.settings).toMatchObject({ strict: true });
  });

  it("has neither residency nor ceiling outside model-score unless they are set", () => {
    const plain = resolve({ scheduler: { policy: "fifo" } }).engine.policy.guards;
    const set = resolve({ scheduler: { policy: "fifo", maxWaitSeconds: 90 } }).engine.policy.guards;

    expect(plain).toMatchObject({ minResidencyMs: null, maxWaitMs: null });
    expect(set).toMatchObject({ minResidencyMs: null, maxWaitMs: 90_000 });
  });
});
