// What must hold between keys: which findings refuse a start, and which are only said.

import { describe, expect, it } from "vitest";
import { mock, problems, resolve } from "./given.ts";

const model = (change: object = {}) => ({ loadSeconds: 2, backend: mock, ...change });

describe("refused at start", () => {
  it("a load that takes as long as the ceiling allows a job to wait", () => {
    const change = { scheduler: { maxWaitSeconds: 120 }, models: { slow: model({ loadSeconds: 120 }) } };

    const [problem] = problems(change);

    expect(problem).toEqual({
      path: "models.slow.loadSeconds",
      text: "one load (120 s) takes as long as scheduler.maxWaitSeconds (120 s) allows a job to wait.",
      mend: "Raise scheduler.maxWaitSeconds above it.",
    });
  });

  it("but not when the ceiling is off", () => {
    const models = { slow: model({ loadSeconds: 500 }) };

    expect(() => resolve({ scheduler: { maxWaitSeconds: null }, models })).not.toThrow();
    expect(() => resolve({ scheduler: { policy: "fifo" }, models })).not.toThrow();
  });

  it("a minimum residency at or above the ceiling", () => {
    const paths = problems({ scheduler: { minResidencySeconds: 60, maxWaitSeconds: 60 } }).map(({ path }) => path);

    expect(paths).toEqual(["scheduler.minResidencySeconds"]);
  });

  it("a lease at or below the sweep", () => {
    const paths = problems({ jobs: { leaseSeconds: 1, sweepSeconds: 1 } }).map(({ path }) => path);

    expect(paths).toEqual(["jobs.leaseSeconds"]);
  });

  it("a model that is larger than every device it may use", () => {
    const change = {
      devices: { a: { memoryGiB: 24 }, b: { memoryGiB: 80 } },
      models: {
        big: model({ memoryGiB: 90 }),
        held: model({ memoryGiB: 40, device: "a" }),
        fine: model({ memoryGiB: 80 }),
      },
    };

    const found = problems(change);

    expect(found.map(({ path }) => path)).toEqual(["models.big.memoryGiB", "models.held.memoryGiB"]);
    expect(found[1]?.text).toBe("40 GiB is more than any device it may use has (a 24 GiB).");
  });

  it("a share that is larger than one of the devices a model is spread over", () => {
    const found = problems({
      devices: { a: { memoryGiB: 24 }, b: { memoryGiB: 80 } },
      models: {
        wide: model({ memoryGiB: 60, device: ["a", "b"] }),
        fine: model({ memoryGiB: 48, device: ["a", "b"] }),
      },
    });

    expect(found).toEqual([
      {
        path: "models.wide.memoryGiB",
        text: "60 GiB over a, b is 30 GiB on each, and a has 24 GiB.",
        mend: "Lower it, or spread it over more or larger devices.",
      },
    ]);
  });

  it("a set of models that are never together with a name that is no model's", () => {
    const found = problems({
      models: { chat: model(), code: model({ aliases: ["c"] }) },
      scheduler: { neverTogether: [["chat", "coed"]] },
    });

    expect(found).toEqual([
      { path: "scheduler.neverTogether[0]", text: '"coed" is not a model.', mend: 'Did you mean "code"?' },
    ]);
  });

  it("nothing about memory where a device does not say how much it has", () => {
    expect(() => resolve({ devices: { a: {} }, models: { big: model({ memoryGiB: 500 }) } })).not.toThrow();
  });

  it("a name that two models answer to", () => {
    const found = problems({ models: { chat: model(), code: model({ aliases: ["chat", "c", "c"] }) } });

    expect(found.map(({ text }) => text)).toEqual([
      '"chat" is already a name of the model "chat".',
      '"c" is already a name of the model "code".',
    ]);
  });

  it("a device that is not declared", () => {
    const [problem] = problems({ devices: { gpu0: {} }, models: { chat: model({ device: ["gpu0", "gpu1"] }) } });

    expect(problem).toEqual({
      path: "models.chat.device",
      text: '"gpu1" is not a declared device.',
      mend: "Declare it under devices; declared: gpu0.",
    });
  });

  it("an affinity that could lift a job across a band", () => {
    const [problem] = problems({ scheduler: { policy: "serial", swapAffinityBonus: 98 } });

    expect(problem?.text).toBe(
      "the band spacing 100 must exceed the largest offset inside a band (2) plus swapAffinityBonus (98).",
    );
    expect(() => resolve({ scheduler: { policy: "serial", swapAffinityBonus: 97 } })).not.toThrow();
  });

  it("no model at all", () => {
    expect(problems({ models: {} })).toMatchObject([{ path: "models", text: "is empty." }]);
  });

  it("a store of another kind", () => {
    expect(problems({ store: { url: "postgres://localhost/sir" } })).toMatchObject([
      { path: "store.url", text: "names PostgreSQL, which is not supported yet." },
    ]);
    expect(problems({ store: { url: "data/sir.db" } })).toMatchObject([{ path: "store.url" }]);
  });
});

describe("only warned of", () => {
  it("a lease at or above the ceiling", () => {
    expect(resolve({ jobs: { leaseSeconds: 120 } }).warnings).toEqual([
      expect.stringContaining("an abandoned job may still force a swap"),
    ]);
  });

  it("loads that together reach the ceiling", () => {
    const models = { a: model({ loadSeconds: 60 }), b: model({ loadSeconds: 60 }) };

    expect(resolve({ models }).warnings).toEqual([expect.stringContaining("the ceiling cannot be kept")]);
  });

  it("an address that the network can reach while there are no keys", () => {
    expect(resolve({ server: { host: "0.0.0.0" } }).warnings).toEqual([expect.stringContaining("open to the network")]);
    expect(resolve({ server: { host: "::1" } }).warnings).toEqual([]);
  });
});
