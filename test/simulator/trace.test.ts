import { describe, expect, it } from "vitest";
import { SCENARIOS } from "../../src/simulator/scenarios.ts";
import { readTrace, writeTrace } from "../../src/simulator/trace.ts";
import { merge, offeredLoad, simulatedModel } from "../../src/simulator/workload.ts";

const HEADER = '{"sirTrace":1,"models":[{"name":"chat","loadSeconds":8}]}';

describe("trace files", () => {
  it.each(Object.values(SCENARIOS))("come back as they were written: $name", (workload) => {
    expect(readTrace(writeTrace(workload))).toEqual(workload);
  });

  it("take work in seconds where no tokens are given", () => {
    const trace = readTrace(`${HEADER}\n{"t":2,"model":"chat","work":1.8}\n\n{"t":1,"model":"chat","tokens":5}\n`);

    expect(trace.arrivals).toEqual([
      { atMs: 1_000, model: "chat", priority: 0, tokens: 5 },
      { atMs: 2_000, model: "chat", priority: 0, tokens: 64, workMs: 1_800 },
    ]);
  });

  it.each([
    ["", "line 1 of the trace is not JSON"],
    ["{}", "line 1 of the trace is not a trace's header: sirTrace"],
    [`${HEADER}\nnonsense`, "line 2 of the trace is not JSON"],
    [`${HEADER}\n{"t":-1,"model":"chat","work":1}`, "line 2 of the trace is not a job: t"],
    [`${HEADER}\n{"t":1,"model":"chat"}`, "needs `work` (seconds) or `tokens`"],
    [`${HEADER}\n{"t":1,"model":"chat","work":1,"wrok":2}`, 'Unrecognized key: "wrok"'],
    [`${HEADER}\n\n{"t":1,"model":"gone","work":1}`, 'line 3 of the trace names the model "gone"'],
  ])("say which line is wrong and how: %s", (text, message) => {
    expect(() => readTrace(text)).toThrow(message);
  });
});

describe("workloads", () => {
  it("merge in order of time and keep the order of ties", () => {
    const at = (atMs: number, model: string) => ({ atMs, model, priority: 0, tokens: 1 });

    const merged = merge([at(0, "a"), at(5, "a")], [at(0, "b"), at(3, "b")]);

    expect(merged.map(({ atMs, model }) => `${model}${atMs}`)).toEqual(["a0", "b0", "b3", "a5"]);
  });

  it("know how much of the device's time they ask for", () => {
    const model = simulatedModel("m", { concurrency: 1, firstTokenMs: 0, tokensPerSecond: 10 });
    const arrivals = Array.from({ length: 11 }, (_, i) => ({ atMs: i * 2_000, model: "m", priority: 0, tokens: 10 }));

    const load = offeredLoad({ name: "", source: "", models: [model], arrivals, untilMs: null });

    expect(load).toBeCloseTo(0.55);
  });
});
