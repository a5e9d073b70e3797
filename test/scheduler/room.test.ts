// Who has to go, and what is decided when several models share a device.

import { describe, expect, it } from "vitest";
import type { DeviceId } from "../../src/domain/ids.ts";
import { decide } from "../../src/scheduler/decide.ts";
import { bindPolicy } from "../../src/scheduler/policies/registry.ts";
import { copyPays } from "../../src/scheduler/replica.ts";
import type { DeviceView, ModelView } from "../../src/scheduler/snapshot.ts";
import { model, named, type QueuedJob, resident, snapshot } from "./views.ts";

const NOW = 1_000_000;
const FIFO = bindPolicy("fifo", {});
type Draft = Partial<ModelView> & { jobs?: readonly QueuedJob[] };
const waits = (forMs: number, count = 1, priority = 0): Draft => ({
  jobs: Array.from({ length: count }, (_, i) => ({ id: i + 1 + forMs, atMs: NOW - forMs, priority })),
});
const on = (memoryGiB: number | null, ...names: string[]): Partial<DeviceView> => ({
  memoryGiB,
  residents: names.map((name) => resident(name, { sinceMs: NOW - 600_000, idleSinceMs: NOW - 500_000 })),
});
const gib = (memoryGiB: number, rest: Draft = {}): Draft => ({ memoryGiB, ...rest });
const of = (drafts: Readonly<Record<string, Draft>>): ModelView[] =>
  Object.entries(drafts).map(([name, draft]) => model(name, draft));

describe("room", () => {
  it("is made by the models that are worth least for each GiB, and not by more of them than it takes", () => {
    const models = of({
      A: gib(10, { loadMs: 100_000, ...waits(1_000) }),
      B: gib(30, { loadMs: 20_000 }),
      C: gib(30, { loadMs: 200_000, inFlight: 1 }),
      N: gib(25, waits(2_000)),
    });
    expect(decide(snapshot(NOW, models, on(80, "A", "B", "C")), FIFO)).toMatchObject({
      kind: "swap",
      reason: "arrival_order",
      load: "N",
      evict: ["B"],
    });
  });

  it("keeps a small one that was first in line when a large one has to go anyway", () => {
    const models = of({ A: gib(10), B: gib(60, { loadMs: 9_000 }), N: gib(60, waits(2_000)) });
    expect(decide(snapshot(NOW, models, on(80, "A", "B")), FIFO).evict).toEqual(["B"]);
  });

  it("weighs expected work too: what is asked for often is kept over what nobody has asked for", () => {
    const often = model("A", gib(40)).bands;
    const bands = { ...often, interactive: { ...often.interactive, arrivals: { value: 20, atMs: NOW - 5_000 } } };
    const models = of({ A: gib(40, { lastArrivalAtMs: NOW - 5_000 }), B: gib(40), N: gib(40, waits(1_000)) }).map(
      (each) => (each.model === "A" ? { ...each, bands } : each),
    );
    expect(decide(snapshot(NOW, models, on(80, "A", "B")), FIFO).evict).toEqual(["B"]);
  });

  it("is taken by nobody while every one in the way has work, and by what fits at once", () => {
    const models = of({
      A: gib(40, { inFlight: 1 }),
      B: gib(30, { inFlight: 1 }),
      N: gib(80, waits(9_000)),
      S: gib(10, waits(1_000)),
    });
    const busy = decide(snapshot(NOW, models.slice(0, 3), on(80, "A", "B")), FIFO);
    expect(busy).toMatchObject({ kind: "hold", reason: "finish", serves: ["A", "B"] });
    expect(busy.against.get(named("N"))).toHaveLength(2);
    expect(decide(snapshot(NOW, models, on(80, "A", "B")), FIFO)).toMatchObject({
      reason: "fits",
      load: "S",
      evict: [],
    });
  });

  it("is not made by a pinned model, and what only that would make room for does not stand in the way", () => {
    const models = of({
      P: gib(40, { pinned: true }),
      N: gib(50, waits(90_000)),
      S: gib(30, waits(1_000)),
    });
    const verdict = decide(snapshot(NOW, models, on(80, "P")), bindPolicy("model-score", { maxWaitSeconds: 60 }));
    expect(verdict).toMatchObject({ reason: "fits", load: "S" });
    expect(verdict.models.find((each) => each.model === "N")?.whyNot).toBe("does not fit beside P, which is pinned");
  });

  it("is made by others before a pinned model, however little that one is worth", () => {
    const models = of({ P: gib(40, { pinned: true }), B: gib(40, waits(9_000, 9, 100)), N: gib(40, waits(90_000)) });
    const policy = bindPolicy("model-score", { maxWaitSeconds: 60, serveBeforeSwap: false });
    expect(decide(snapshot(NOW, models, on(80, "P", "B")), policy)).toMatchObject({ load: "N", evict: ["B"] });
  });

  it("a guard on one model's place does not hold back those that want another's", () => {
    const policy = bindPolicy("longest", { minResidencySeconds: 1_000 });
    const device = {
      memoryGiB: 80,
      residents: [
        resident("A", { sinceMs: NOW - 2_000_000, idleSinceMs: NOW - 500_000 }),
        resident("B", { sinceMs: NOW - 1_000, dispatched: 1, idleSinceMs: NOW - 500 }),
      ],
    };
    const models = of({
      A: gib(20, { loadMs: 300_000 }),
      B: gib(60),
      N: gib(60, waits(5_000, 9)),
      S: gib(20, waits(4_000, 1)),
    }).map((each) => (each.model === "S" ? { ...each, apartFrom: [named("A")] } : each));
    expect(decide(snapshot(NOW, models, device), policy)).toMatchObject({ kind: "swap", load: "S", evict: ["A"] });
  });
});

describe("models that are never together", () => {
  it("make way for each other however much room there is", () => {
    const models = of({ A: gib(10), B: gib(10), N: gib(10, { ...waits(1_000), apartFrom: [named("A")] }) });
    expect(decide(snapshot(NOW, models, on(80, "A", "B")), FIFO)).toMatchObject({ load: "N", evict: ["A"] });
  });
});

describe("a model across several devices", () => {
  const gpu1 = "gpu1" as DeviceId;
  const across = ["gpu0", "gpu1"] as DeviceId[];
  const partner = (names: readonly string[], rest: Partial<DeviceView> = {}): DeviceView => ({
    ...snapshot(NOW, [], on(80, ...names)).device,
    device: gpu1,
    ...rest,
  });

  it("takes its share of each, and evicts on each what does not fit", () => {
    const models = of({
      A: gib(30),
      F: gib(60, { foreign: true }),
      K: gib(20, { foreign: true, inFlight: 1 }),
      N: gib(50, { ...waits(1_000), across }),
    });
    const at = { ...snapshot(NOW, models, on(80, "A")), partners: [partner(["F", "K"])] };
    expect(decide(at, FIFO)).toMatchObject({ kind: "swap", load: "N", evict: ["F"], serves: [] });
  });

  it("waits while one of them loads, and others go on there", () => {
    const models = of({ A: gib(30, waits(1_000)), N: gib(50, { ...waits(1_000), across }) });
    const move = { phase: "loading", load: named("Z"), evict: [], sinceMs: NOW, onDemand: true } as const;
    const at = { ...snapshot(NOW, models, on(80, "A")), partners: [partner([], { transition: move })] };
    expect(decide(at, FIFO)).toMatchObject({ kind: "hold", reason: "no_room", serves: ["A"] });
  });

  it("is never served twice: a partner's models are no part of this device's service", () => {
    const models = of({ A: gib(30, waits(1_000)), F: gib(60, { foreign: true, ...waits(1_000) }) });
    const at = { ...snapshot(NOW, models, on(80, "A")), partners: [partner(["F"])] };
    expect(decide(at, FIFO)).toMatchObject({ kind: "hold", reason: "serving", serves: ["A"] });
  });
});

describe("a second copy", () => {
  const queue = { slots: 16, loadMs: 30_000, service: { aloneMs: 10_000, slowdownPerJob: 0.05 } };

  it("pays when the queue, shared with one copy more, still takes longer than four loads", () => {
    expect(copyPays({ ...queue, depth: 219 }, 1)).toBe(false);
    expect(copyPays({ ...queue, depth: 220 }, 1)).toBe(true);
    expect(copyPays({ ...queue, depth: 220 }, 2)).toBe(false);
    expect(copyPays({ ...queue, depth: 0, loadMs: 0 }, 1)).toBe(false);
  });
});
