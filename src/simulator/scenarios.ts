// The founding scenarios, named, and the burst that must need exactly three loads. Deterministic: nothing is drawn.

import { alternating, bursts, every, together } from "./arrivals.ts";
import { merge, simulatedModel, type Workload } from "./workload.ts";

const CHAT = simulatedModel("chat", { priority: 1, loadMs: 8_000, tokensPerSecond: 40 });
const TRANSLATE = simulatedModel("translate", { priority: 1.5, loadMs: 6_000, tokensPerSecond: 60 });
const EMBED = simulatedModel("embed", { priority: 0.5, loadMs: 3_000, tokensPerSecond: 200 });

const chat = { model: "chat" };
const translate = { model: "translate" };
const embed = { model: "embed" };

export const SCENARIOS = {
  /** Two models in turns, three seconds apart: seven swaps without residency, two with it. */
  essay: {
    name: "essay",
    source: "two models asked for in turns, every 3 s",
    models: [CHAT, TRANSLATE],
    arrivals: alternating([chat, translate], 3_000, 20),
    untilMs: 300_000,
  },
  rare: {
    name: "rare",
    source: "chat every 2 s, translate every 45 s",
    models: [CHAT, TRANSLATE],
    arrivals: merge(every(chat, 2_000, 150), every(translate, 45_000, 7, 10_000)),
    untilMs: 400_000,
  },
  bursts: {
    name: "bursts",
    source: "four bursts of twelve, a minute apart, the models taking turns",
    models: [CHAT, TRANSLATE],
    arrivals: bursts([chat, translate], { count: 4, size: 12, gapMs: 500, everyMs: 60_000 }),
    untilMs: 400_000,
  },
  three: {
    name: "three",
    source: "chat every 2 s, translate every 15 s, embed every 30 s",
    models: [CHAT, TRANSLATE, EMBED],
    arrivals: merge(every(chat, 2_000, 150), every(translate, 15_000, 20, 5_000), every(embed, 30_000, 10, 12_000)),
    untilMs: 400_000,
  },
  /** A A B A C C B A, all at once: three loads are enough, and no order of the three needs more. */
  collation: {
    name: "collation",
    source: "A A B A C C B A, all at once",
    models: [simulatedModel("A"), simulatedModel("B"), simulatedModel("C")],
    arrivals: together(["A", "A", "B", "A", "C", "C", "B", "A"]),
    untilMs: null,
  },
} as const satisfies Readonly<Record<string, Workload>>;

export type ScenarioName = keyof typeof SCENARIOS;
