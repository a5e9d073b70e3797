import { describe, expect, it } from "vitest";
import {
  comparisonsOf,
  guardWords,
  otherNumbers,
  reachOf,
  scoreLine,
} from "../../dashboard/src/decisions/arithmetic.ts";
import { isShown, readDecisionFilters } from "../../dashboard/src/decisions/filters.ts";
import { followed, windowOf } from "../../dashboard/src/decisions/followed.ts";
import { isCode, whatIfOf } from "../../dashboard/src/job/levers.ts";
import { raceOf } from "../../dashboard/src/job/race-data.ts";
import { splitSummary } from "../../dashboard/src/job/summary.ts";
import type { DecisionWire, ScoredWire } from "../../src/client/wire.ts";
import type { ExplainingDecisionWire } from "../../src/client/wire-explain.ts";
import type { TimelineWire } from "../../src/client/wire-live.ts";
import { GUARD_WORDS } from "../../src/scheduler/reasons.ts";

const scored = (more: Partial<ScoredWire>): ScoredWire => ({
  ...{ model: "m", depth: 30, oldest_wait_seconds: 1_200, priority: 1, switch_cost: 0, score: null },
  ...{ eligible: true, why_not: null },
  ...more,
});
const plain = (text: string): string => text.replaceAll("\u00a0", " ");

describe("the arithmetic of a decision", () => {
  it("writes out age, depth and cost of model-score, and draws the cost against the rest", () => {
    const line = scoreLine(
      scored({ age_term: 1_800, depth_term: 22.5, switch_cost: 58, score: 1_764.5, priority: 1.5 }),
    );

    expect(line.addends.map(({ kind, value }) => [kind, value])).toEqual([
      ["age", 1_800],
      ["depth", 22.5],
      ["cost", -58],
    ]);
    expect(plain(line.text)).toBe("1.5 × (1,200 for a wait of 20 m + 15 for 30 jobs) − 58 for the load = 1,765");
    expect(reachOf([line])).toEqual({ left: 58, right: 1_822.5 });
  });

  it("adds up any other rule's terms by their names", () => {
    const line = scoreLine(scored({ priority_term: 100, affinity_term: 10, aging_term: 3.2, score: 113.2 }));

    expect(plain(line.text)).toBe("100 the first job's priority + 10 being loaded + 3.2 waiting = 113");
    expect(line.addends).toHaveLength(3);
  });

  it("does not pretend that a density is a sum", () => {
    const line = scoreLine(
      scored({ weight: 30, debt: 900, density: 2.5, drain_seconds: 12, switch_seconds: 8, score: 2.5 }),
    );

    expect(line.addends).toEqual([]);
    expect(plain(line.text)).toBe("weight 30, debt 900, density 2.5, drain 12 s, switch 8 s");
    expect(reachOf([line])).toEqual({ left: 0, right: 2.5 });
  });

  it("says what it is where nothing waits, and where a rule gives no scores", () => {
    expect(scoreLine(scored({ depth: 0 })).text).toBe("nothing waits, so nothing speaks for it");
    expect(plain(scoreLine(scored({})).text)).toBe("30 jobs, oldest 20 m; this rule gives no scores");
  });

  it("puts the numbers that a rule compared side by side, and keeps the rest as facts", () => {
    const numbers = { saves: 120, costs: 80, load_seconds: 20, back_seconds: 9 };

    expect(comparisonsOf({ numbers })).toMatchObject([
      { left: { name: "saves", value: 120 }, right: { name: "costs", value: 80 }, unit: "score" },
    ]);
    expect(otherNumbers({ numbers }).map(([name, value]) => [name, plain(value)])).toEqual([
      ["loading it", "20 s"],
      ["loading back", "9 s"],
    ]);
    expect(comparisonsOf({ numbers: { waited_seconds: 1_200, ceiling_seconds: 1_200 } })).toHaveLength(1);
    expect(comparisonsOf({ numbers: {} })).toEqual([]);
  });

  it("has words for every guard that can speak", () => {
    for (const guard of Object.keys(GUARD_WORDS)) expect(guardWords(guard)).toMatch(/^[A-Z].+\.$/);
    expect(guardWords(null)).toBeNull();
  });
});

const decision = (more: Partial<DecisionWire>): DecisionWire => ({
  ...{ id: "dec_1", object: "decision", at: 1_000, kind: "swap", reason: "ceiling", guard: "ceiling" },
  ...{ policy: "model-score", device: "gpu0", load: "b", evict: ["a"], resident: [], models: [], jobs: [] },
  ...{ preload: null, about: null, numbers: {}, budget: null, next_look_at: null, sentence: "", times: 1 },
  ...{ last_at: 1_000, trail: [], asked_by: null },
  ...more,
});

describe("what came of a decision", () => {
  const at = 1_000_000;
  const timeline: TimelineWire = {
    ...{ object: "timeline", from_ms: 0, to_ms: 2_000_000, pauses: [], downtimes: [] },
    spans: [
      ["gpu0", "b", "loading", at - 90_000, at - 80_000, "dec_0"],
      ["gpu0", "b", "loading", at + 4_000, at + 64_000, "dec_1"],
      ["gpu0", "b", "serving", at + 64_000, null, null],
    ],
    moves: [
      {
        ...{ id: "dec_2", device: "gpu0", at_ms: at + 300_000, kind: "swap", reason: "challenger_wins" },
        ...{ forced: false, load: "a", evict: ["b"], sentence: "…" },
      },
    ],
  };

  it("is its own load, and the move that ended its stay", () => {
    expect(followed(decision({}), timeline)).toMatchObject({ loadMs: 60_000, failed: false, endedBy: { id: "dec_2" } });
    expect(followed(decision({ load: null, evict: [] }), timeline)).toMatchObject({ loadMs: null, endedBy: null });
  });

  it("is drawn with minutes around it, a long stay whole", () => {
    expect(windowOf({ at: 1_000, last_at: 1_000 })).toEqual({ fromMs: 760_000, toMs: 1_480_000 });
    expect(windowOf({ at: 1_000, last_at: 11_000 })).toEqual({ fromMs: -1_000_000, toMs: 13_000_000 });
  });
});

describe("the decisions' list", () => {
  it("shows moves unless told otherwise", () => {
    const moves = readDecisionFilters(new URLSearchParams("kind=nonsense&device=gpu1"));

    expect(moves).toEqual({ kind: "moves", device: "gpu1" });
    expect(isShown(moves, decision({ device: "gpu1" }))).toBe(true);
    expect(isShown(moves, decision({}))).toBe(false);
    expect(isShown({ kind: "stays", device: "" }, decision({ kind: "hold" }))).toBe(true);
    expect(isShown({ kind: "moves", device: "" }, decision({ kind: "hold" }))).toBe(false);
    expect(isShown({ kind: "forced", device: "" }, decision({ reason: "fits" }))).toBe(false);
  });
});

describe("the page of a job", () => {
  const look = (more: Partial<ExplainingDecisionWire>): ExplainingDecisionWire => ({
    ...{ id: "d", at_ms: 0, last_at_ms: 0, times: 1, kind: "hold", reason: "resident_wins", device: "gpu0" },
    ...{ sentence: "", own: { score: 1, depth: 1, oldest_seconds: 0 }, winner: { model: "a", score: 9 }, trail: [] },
    ...more,
  });

  it("ends the race of scores with the decision that its model wins", () => {
    const race = raceOf(
      [
        look({ at_ms: 1_000, trail: [[20_000, 2, 10]] }),
        look({ at_ms: 30_000, own: { score: 12, depth: 1, oldest_seconds: 0 }, winner: { model: "own", score: 12 } }),
        look({ at_ms: 40_000, winner: { model: "own", score: 20 } }),
      ],
      "own",
      1_500,
    );

    expect(race).toEqual({ atMs: [1_500, 20_000, 30_000], own: [1, 2, 12], winner: [9, 10, null], rivals: ["a"] });
  });

  it("draws no race where a rule gives no scores, or it was over in a moment", () => {
    const silent = { own: { score: null, depth: 1, oldest_seconds: 0 }, winner: { model: "a", score: null } };

    expect(raceOf([look({ ...silent, at_ms: 1 }), look({ ...silent, at_ms: 9_000 })], "own", 0)).toBeNull();
    expect(raceOf([look({ at_ms: 1 }), look({ at_ms: 2_000 })], "own", 0)).toBeNull();
    expect(raceOf([look({ at_ms: 1 })], "own", 0)).toBeNull();
  });

  it("parts the sentence behind what happened, whatever names hold", () => {
    expect(splitSummary("Waited 2 m, then ran 6 s. For 1 m of that, gpt-4.1 mini outscored it.")).toEqual({
      lead: "Waited 2 m, then ran 6 s.",
      rest: "For 1 m of that, gpt-4.1 mini outscored it.",
    });
    expect(splitSummary("Started at once and ran 1 s.").rest).toBe("");
  });

  it("sets keys and commands as code, and takes a command over to What if", () => {
    expect(["scheduler.maxWaitSeconds", "models.*.priority", "sir resume"].map(isCode)).toEqual([true, true, true]);
    expect(["a shorter request", "more memory"].map(isCode)).toEqual([false, false]);
    expect(whatIfOf("sir replay --from 2h --set maxWaitSeconds=600 --policy stint")).toEqual({
      set: "maxWaitSeconds=600",
      policy: "stint",
    });
  });
});
