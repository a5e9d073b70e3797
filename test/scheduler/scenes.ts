// One real decision for each reason (for some several), between a model A that is loaded and a model B that waits.

import type { DecisionReason } from "../../src/domain/decision.ts";
import { type ByHand, verdictByHand } from "../../src/scheduler/by-hand.ts";
import { decide } from "../../src/scheduler/decide.ts";
import { bindPolicy } from "../../src/scheduler/policies/registry.ts";
import { REASON_WORDS } from "../../src/scheduler/reasons.ts";
import type { DeviceView, ModelView, Transition } from "../../src/scheduler/snapshot.ts";
import type { Decided } from "../../src/scheduler/verdict.ts";
import { BUDGET, expectedAt, jobId, MODEL_SCORE, model, named, type QueuedJob, resident, snapshot } from "./views.ts";

type Draft = Partial<ModelView> & { jobs?: readonly QueuedJob[] };

const NOW = 1_000_000;
const busy: Draft = { jobs: [{ atMs: NOW - 9_000 }, { atMs: NOW - 8_000 }], inFlight: 3 };
const waiting = (waitMs: number, count = 1): Draft => ({
  jobs: Array.from({ length: count }, (_, i) => ({ atMs: NOW - waitMs + i })),
});

function scene(a: Draft, b: Draft, device: Partial<DeviceView> = {}, policy = MODEL_SCORE): Decided {
  return decide(snapshot(NOW, [model("A", a), model("B", b)], device), policy);
}

function byHand(act: ByHand["act"], name: string, a: Draft, device: Partial<DeviceView>, rest = {}): Decided {
  const at = snapshot(NOW, [model("A", a), model("B", {})], device);
  return verdictByHand(at, MODEL_SCORE, { act, model: named(name), ...rest });
}

const here = (sinceMs = 600_000, rest = {}) => ({ residents: [resident("A", { sinceMs: NOW - sinceMs, ...rest })] });
const idleFor = (ms: number) => here(600_000, { idleSinceMs: NOW - ms });
const packed = { memoryGiB: 80, residents: [resident("A", { sinceMs: NOW - 600_000 })] };
const move = (phase: Transition["phase"], load: string | null, onDemand = true): Partial<DeviceView> => ({
  ...(phase === "draining" ? here() : {}),
  transition: { phase, load: load === null ? null : named(load), evict: [named("A")], sinceMs: NOW - 2_000, onDemand },
});
const ahead = ({ transition, ...device }: Partial<DeviceView>): Partial<DeviceView> => ({
  ...device,
  transition: transition == null ? null : { ...transition, ahead: true },
});
const fifo = bindPolicy("fifo", {});
const serial = bindPolicy("serial", {});
const longest = bindPolicy("longest", {});

const stint = bindPolicy("stint", {});
const now = { eventAtMs: NOW };
const urgent = (count: number, waitMs: number): Draft => ({
  jobs: Array.from({ length: count }, (_, i) => ({ atMs: NOW - waitMs + i, priority: 100 })),
});
const batch = (count: number, waitMs = 9_000): Draft => ({
  jobs: Array.from({ length: count }, (_, i) => ({ atMs: NOW - waitMs + i, priority: -100 })),
});
const inDemand: Draft = {
  lastArrivalAtMs: NOW - 12_000,
  bands: { ...model("A").bands, interactive: { ...model("A").bands.interactive, arrivals: { value: 20, atMs: NOW } } },
};

export const SCENES: readonly (readonly [DecisionReason, Decided])[] = [
  ["cold", scene({}, waiting(1_000))],
  ["fits", scene({ ...busy, memoryGiB: 40 }, { ...waiting(1_000), memoryGiB: 30 }, packed)],
  ["challenger_wins", scene(busy, waiting(85_000, 12), here())],
  ["challenger_wins", scene(busy, { jobs: [{ atMs: NOW - 90_000, priority: 20 }] }, here(), serial)],
  [
    "challenger_wins",
    scene({}, waiting(85_000), idleFor(3_000), bindPolicy("model-score", { minResidencySeconds: 0, idleLapse: false })),
  ],
  ["resident_idle", scene({}, waiting(3_000, 10), idleFor(9_000))],
  ["resident_unavailable", scene({ ...busy, paused: true }, waiting(3_000, 2), here())],
  ["ceiling", scene(busy, { ...waiting(1_861_000), priority: 0.01 }, here())],
  ["ceiling", scene({}, waiting(120_000))],
  ["longest_queue", scene({}, waiting(3_000, 4), idleFor(1), longest)],
  ["arrival_order", scene({}, waiting(3_000), idleFor(1), fifo)],
  ["free", scene({}, waiting(118_000, 6), { ...idleFor(4_000), ...now }, stint)],
  ["worth", scene({ ...batch(40), inFlight: 8 }, urgent(3, 41_000), { ...here(), ...now }, stint)],
  ["visit", scene(busy, { ...batch(250), unvisitedSinceMs: NOW - 43_560_000 }, { ...here(), ...now }, stint)],
  [
    "deadline",
    scene(
      { ...waiting(9_000, 9), inFlight: 8 },
      { ...waiting(8_000), deadline: { id: jobId(7), atMs: NOW + 14_000 } },
      { ...here(), ...now },
      stint,
    ),
  ],
  ["not_worth", scene({ ...waiting(9_000, 2), inFlight: 8 }, batch(1), { ...here(), ...now }, stint)],
  [
    "budget",
    scene(
      { ...batch(40), inFlight: 8 },
      urgent(3, 41_000),
      { ...here(), ...now, budget: { leftMs: 5_000, atMs: NOW } },
      stint,
    ),
  ],
  ["likely_needed", scene(inDemand, batch(40, 20_000), { ...idleFor(2_000), ...now }, stint)],
  ["likely_needed", scene(inDemand, batch(1, 1_000), { ...idleFor(2_000), ...now }, stint)],
  ["finish", scene({ ...inDemand, inFlight: 2 }, batch(40, 20_000), { ...here(), ...now }, stint)],
  ["serve_first", scene(busy, batch(9), { ...here(0, { dispatched: 0 }), ...now }, stint)],
  ["quantum", scene(busy, { ...batch(250), unvisitedSinceMs: NOW - 43_560_000 }, { ...here(10_000), ...now }, stint)],
  ["restore", scene({ wanted: "restore" }, { ...waiting(3_000), retryAtMs: NOW + 5_000 })],
  ["keep_ready", scene({ wanted: "keep_ready" }, {})],
  ["preload", scene({}, { forecast: expectedAt(NOW + 125_000) }, { ...idleFor(5_000), preloading: BUDGET })],
  ["preload", scene({ forecast: expectedAt(NOW - 9_000, { source: "cron" }) }, {}, { preloading: BUDGET })],
  ["pinned", scene({}, { wanted: "pinned" }, idleFor(5_000))],
  ["pinned", scene({ pinned: true }, waiting(300_000, 2), idleFor(5_000))],
  ["operator", scene(busy, { wanted: "operator" }, here())],
  ["operator", scene({}, { wanted: "operator" })],
  ["operator", byHand("unload", "A", {}, idleFor(5_000))],
  ["operator", byHand("unload", "A", { inFlight: 1 }, here(), { running: 1 })],
  ["operator", byHand("unload", "A", busy, here(), { running: 3, force: true })],
  ["operator", byHand("unload", "B", busy, move("loading", "B", false))],
  ["drain", byHand("drain", "A", { inFlight: 2 }, here(), { running: 2 })],
  ["drain", byHand("drain", "B", busy, here())],
  ["pin", byHand("pin", "A", {}, here())],
  ["pin", byHand("pin", "B", busy, here())],
  ["unpin", byHand("unpin", "A", {}, idleFor(5_000))],
  ["idle_timeout", scene({ unloadAfterMs: 600_000 }, {}, idleFor(600_400))],
  ["unwanted", scene(waiting(3_000), {}, move("loading", "B"))],
  ["unwanted", scene(busy, {}, move("draining", "B"))],
  ["yielded", scene(busy, {}, ahead(move("loading", "B", false)))],
  ["removed", decide(snapshot(NOW, [model("B")], here()), MODEL_SCORE)],
  ["no_work", scene({}, {}, idleFor(5_000))],
  ["no_work", scene({}, {})],
  ["serving", scene(busy, {}, here())],
  ["resident_wins", scene({ ...busy, priority: 300 }, { ...waiting(40_000), loadMs: 114_000 }, here())],
  ["resident_wins", scene({}, waiting(4_000), idleFor(2_000))],
  ["resident_wins", scene({}, waiting(4_000, 3), idleFor(2_000))],
  ["resident_wins", scene({ inFlight: 2 }, waiting(4_000, 3), here())],
  ["resident_wins", scene(waiting(4_000, 3), { ...waiting(4_000, 3), loadMs: 0 }, here())],
  ["min_residency", scene(busy, waiting(85_000, 2), here(29_000))],
  ["serve_first", scene(busy, waiting(130_000), here(0, { dispatched: 0 }))],
  ["forced_swap_spent", scene(busy, waiting(130_000, 2), here(9_000, { forced: true }))],
  ["finish", scene(busy, waiting(130_000), here(), fifo)],
  ["back_off", scene(busy, { ...waiting(30_000), retryAtMs: NOW + 9_000 }, here())],
  ["back_off", scene({}, { ...waiting(30_000, 2), retryAtMs: NOW + 9_000, broken: true })],
  ["paused", scene(busy, waiting(30_000), { ...here(), paused: true })],
  ["paused", scene(busy, {}, { ...here(), paused: true })],
  ["paused", scene({}, { ...waiting(30_000, 2), paused: true }, idleFor(1))],
  ["paused", scene({ ...busy, paused: true }, {}, here())],
  ["no_room", scene(busy, { ...waiting(30_000), memoryGiB: 80 }, { ...here(), memoryGiB: 24 })],
  ["blocked", scene(waiting(4_000), waiting(5_000), { blockedUntilMs: NOW + 1 })],
  ["blocked", scene({}, {}, { blockedUntilMs: NOW + 1 })],
  ["loading", scene({}, waiting(30_000, 15), move("loading", "B"))],
  ["loading", scene({}, {}, move("loading", "B", false))],
  ["draining", scene(busy, waiting(30_000, 2), move("draining", "B"))],
  ["draining", scene(busy, {}, move("draining", null, false))],
  ["unloading", scene({}, waiting(30_000), move("unloading", "B"))],
  ["unloading", scene({}, {}, move("unloading", null, false))],
];

/** A and C are loaded, and both would have to go for B. */
function pair(a: Draft, c: Draft, b: Draft, policy = MODEL_SCORE, rest = {}): Decided {
  const [sinceMs, gib] = [NOW - 600_000, { memoryGiB: 40 }];
  const models = [model("A", { ...a, ...gib }), model("C", { ...c, ...gib }), model("B", { ...b, memoryGiB: 80 })];
  const residents = ["A", "C"].map((name) => resident(name, { sinceMs, ...rest }));
  return decide(snapshot(NOW, models, { memoryGiB: 80, residents }), policy);
}

const calm = { idleSinceMs: NOW - 400_000 };
const packedFifo = bindPolicy("fifo", { strict: true });

/** The same reasons where two models are in the way of one. */
export const PAIRS: readonly (readonly [DecisionReason, Decided])[] = [
  ["arrival_order", scene({ jobs: [{ atMs: NOW - 9_000 }] }, waiting(3_000), here(), packedFifo)],
  ["arrival_order", pair({ jobs: [{ atMs: NOW - 9_000 }] }, {}, waiting(3_000), packedFifo)],
  ["challenger_wins", pair(busy, {}, waiting(85_000, 12))],
  ["resident_wins", pair(busy, busy, waiting(3_000))],
  ["resident_idle", pair({}, {}, waiting(3_000, 10), MODEL_SCORE, calm)],
  ["resident_unavailable", pair({ ...busy, paused: true }, { ...busy, paused: true }, waiting(3_000, 2))],
  ["ceiling", pair(busy, busy, waiting(1_861_000))],
  ["min_residency", pair(busy, busy, waiting(85_000, 12), MODEL_SCORE, { sinceMs: NOW - 5_000 })],
  ["serve_first", pair(busy, busy, waiting(130_000), MODEL_SCORE, { dispatched: 0 })],
  ["forced_swap_spent", pair(busy, busy, waiting(130_000, 2), MODEL_SCORE, { forced: true, sinceMs: NOW - 5_000 })],
  ["finish", pair(busy, busy, waiting(130_000), longest)],
  ["idle_timeout", pair({ unloadAfterMs: 60_000 }, { unloadAfterMs: 60_000 }, {}, MODEL_SCORE, calm)],
  ["no_room", pair({ ...busy, pinned: true }, { pinned: true }, waiting(3_000))],
  ["paused", pair({ ...busy, paused: true }, { ...busy, paused: true }, {})],
  ["no_work", pair({}, {}, {}, MODEL_SCORE, calm)],
  ["serving", pair(busy, {}, {})],
  ["free", pair({}, {}, waiting(900_000, 6), stint, calm)],
  ["visit", pair(busy, busy, { ...waiting(43_600_000), unvisitedSinceMs: NOW - 43_600_000 }, stint)],
];

/** All of them: `REASON_WORDS` does not compile when one is missing. */
export const REASONS = Object.keys(REASON_WORDS);
