// Devices in every state that has its words, and any device.

import fc from "fast-check";
import type { Decision } from "../../src/domain/decision.ts";
import type { DecisionId, DeviceId } from "../../src/domain/ids.ts";
import type { DeviceStatus, ModelStatus } from "../../src/engine/control.ts";
import type { DeviceOverview, MoveOverview } from "../../src/engine/overview.ts";
import { type DeviceFacts, deviceNext, deviceSummary } from "../../src/explain/device-words.ts";
import { CREATED_MS, HOLDER, label, named, OWN } from "./words.ts";

const NOW_MS = 5_000_000;
const DEVICE = "gpu0" as DeviceId;

export function modelStatus(name: string, queued: number, more: Partial<ModelStatus> = {}): ModelStatus {
  return {
    spec: { name: named(name), label: label(name), devices: [DEVICE], concurrency: 8 },
    queued: { interactive: 0, normal: queued, batch: 0 },
    retryAtMs: null,
    lastError: null,
    ...more,
  } as ModelStatus;
}

const decision = (reason: string, sentence: string): Decision =>
  ({ id: "dec_7" as DecisionId, reason, sentence }) as Decision;

export const KEPT = decision("resident_wins", "Kept gpt-oss-120b: its score 2,314 beats qwen3-coder-30b's \u221274.");
const SWAPPED = decision(
  "ceiling",
  "Swapped gpt-oss-120b for qwen3-coder-30b: its oldest job had waited 20\u00a0m; the ceiling is 20\u00a0m.",
);

const QUIET: DeviceOverview = { tenants: [], move: null, blocked: null, swapShare: 0, swaps: 0, next: null };
const tenant = (running: number, model = HOLDER) => ({ model, running, slots: 8, leaving: false });
const move = (more: Partial<MoveOverview>): MoveOverview => ({
  phase: "loading",
  load: OWN,
  evict: [HOLDER],
  phaseSinceMs: NOW_MS - 24_000,
  decision: null,
  progress: null,
  loadMs: 60_000,
  running: 0,
  oldestRunMs: null,
  ...more,
});

export function facts(
  overview: Partial<DeviceOverview>,
  models: readonly ModelStatus[] = [],
  device: Partial<DeviceStatus> = {},
): DeviceFacts {
  return {
    device: { device: DEVICE, paused: false, pause: null, decision: null, ...device } as DeviceStatus,
    overview: { ...QUIET, ...overview },
    models,
    nowMs: NOW_MS,
    wallMs: CREATED_MS,
  };
}

const waits = [modelStatus(OWN, 13), modelStatus(HOLDER, 21)];
const pause = {
  scope: "device",
  subject: DEVICE,
  who: "ada",
  note: "swapping the fans",
  fromMs: NOW_MS - 600_000,
  toMs: null,
} as const;
const at = (ms: number | null): number | null => (ms === null ? null : NOW_MS + ms);
const next = (low: number | null, mid: number | null, high: number | null, bound: number | null) => ({
  model: OWN,
  ...{ lowAtMs: at(low), midAtMs: at(mid), highAtMs: at(high), boundAtMs: at(bound) },
});

const DEVICES: readonly (readonly [string, DeviceFacts])[] = [
  ["serving, another waits", facts({ tenants: [tenant(8)] }, waits, { decision: KEPT })],
  [
    "serving alone",
    facts({ tenants: [tenant(1)] }, [], {
      decision: decision("serving", "Serving gpt-oss-120b: nothing else is waiting."),
    }),
  ],
  ["serving two", facts({ tenants: [tenant(3), tenant(1, OWN)] }, waits)],
  ["serving two, none queued", facts({ tenants: [tenant(3), tenant(0, OWN)] })],
  [
    "idle",
    facts({ tenants: [tenant(0)] }, [], {
      decision: decision("no_work", "Idle. gpt-oss-120b is loaded and nothing is waiting."),
    }),
  ],
  ["idle with two", facts({ tenants: [tenant(0), tenant(0, OWN)] })],
  ["idle, another waits", facts({ tenants: [tenant(0)] }, [modelStatus(OWN, 1)], { decision: KEPT })],
  ["empty", facts({})],
  ["empty, one waits", facts({}, [modelStatus(OWN, 1)])],
  ["loading", facts({ move: move({}) }, waits, { decision: SWAPPED })],
  ["loading, nobody waits", facts({ move: move({ evict: [], loadMs: null }) })],
  ["loading, engine says", facts({ move: move({ progress: 0.41 }) }, [modelStatus(OWN, 1)])],
  ["loading, overdue", facts({ move: move({ phaseSinceMs: NOW_MS - 200_000 }) }, waits)],
  [
    "making room, 3 run",
    facts({ tenants: [tenant(3)], move: move({ phase: "draining", running: 3, oldestRunMs: 41_000 }) }, waits, {
      decision: SWAPPED,
    }),
  ],
  [
    "making room, 1 runs",
    facts({ tenants: [tenant(1)], move: move({ phase: "draining", running: 1, oldestRunMs: 41_000 }) }, waits),
  ],
  ["making room, stopping", facts({ move: move({ phase: "unloading" }) }, waits)],
  ["making room, two stop", facts({ move: move({ phase: "unloading", evict: [HOLDER, named("embed")] }) }, waits)],
  ["draining only", facts({ move: move({ phase: "draining", load: null, running: 2, oldestRunMs: 4_000 }) })],
  ["unloading only", facts({ move: move({ phase: "unloading", load: null }) })],
  ["paused", facts({ tenants: [tenant(2)] }, waits, { paused: true, pause })],
  ["paused, no note", facts({}, [], { paused: true, pause: { ...pause, who: "local", note: null } })],
  ["going down", facts({}, [], { paused: true })],
  [
    "blocked",
    facts({ blocked: { untilMs: NOW_MS + 30_000, detail: "openai/gpt-oss-120b would not stop: timeout\nlog" } }, waits),
  ],
  ["blocked, no detail", facts({ blocked: { untilMs: NOW_MS + 30_000, detail: "" } })],
  [
    "a broken model waits",
    facts(
      { tenants: [tenant(8)] },
      [modelStatus(OWN, 2, { retryAtMs: NOW_MS + 120_000, lastError: "It ended with code 1.\nCUDA out of memory" })],
      { decision: KEPT },
    ),
  ],
  [
    "two broken models wait",
    facts({}, [modelStatus(OWN, 2, { retryAtMs: NOW_MS - 1 }), modelStatus(HOLDER, 1, { retryAtMs: NOW_MS })]),
  ],
  ["next", facts({ tenants: [tenant(8)], next: next(240_000, 460_000, 700_000, 1_060_000) }, waits)],
  ["next, soon", facts({ next: next(20_000, 30_000, 41_000, 60_000) }, waits)],
  ["next, not known when", facts({ next: next(null, null, null, null) }, waits)],
  ["next, only the bound", facts({ next: next(null, null, null, 600_000) }, waits)],
  ["next, tomorrow", facts({ next: next(10_000_000, 20_000_000, 30_000_000, null) }, waits)],
];

export function deviceLines(): string[] {
  return DEVICES.flatMap(([name, each]) => {
    const { text, what_length, code } = deviceSummary(each, label);
    const coming = deviceNext(each, label);
    const words = [`${name}: ${code} | ${text.slice(0, what_length)} | ${text.slice(what_length).trimStart()}`];
    return coming === null ? words : [...words, `    ${coming.text}`];
  });
}

const ms = fc.oneof(fc.constantFrom(0, 1, 999, 59_999, 1e12), fc.integer({ min: 0, max: 10_000_000 }));
const mayBe = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | null> => fc.option(arbitrary, { nil: null });
const error = fc.constantFrom(null, "", "  \n", "x".repeat(900), "It ended. \n\n last: 1 jobs..");
const anyModel = fc.constantFrom(HOLDER, OWN, named("embed"));
const anyTenant = fc.record({
  model: anyModel,
  running: fc.nat(40),
  slots: fc.integer({ min: 1, max: 40 }),
  leaving: fc.boolean(),
});
const anyMove = fc.record({
  phase: fc.constantFrom("draining", "unloading", "loading"),
  load: mayBe(anyModel),
  evict: fc.uniqueArray(anyModel, { maxLength: 3 }),
  phaseSinceMs: ms.map((ago) => NOW_MS - ago),
  decision: fc.constant(null),
  progress: mayBe(fc.double({ min: 0, max: 1, noNaN: true })),
  loadMs: mayBe(ms),
  running: fc.nat(3),
  oldestRunMs: mayBe(ms),
});
const expected = { lowAtMs: mayBe(ms), midAtMs: mayBe(ms), highAtMs: mayBe(ms), boundAtMs: mayBe(ms) };

/** Also such as cannot be. */
export const anyDevice: fc.Arbitrary<DeviceFacts> = fc
  .record({
    tenants: fc.uniqueArray(anyTenant, { maxLength: 3, selector: ({ model }) => model }),
    move: mayBe(anyMove),
    blocked: mayBe(fc.record({ untilMs: ms.map((inMs) => NOW_MS + inMs), detail: error.map((text) => text ?? "") })),
    next: mayBe(fc.record({ model: anyModel, ...expected })),
    waiting: fc.array(fc.tuple(anyModel, fc.nat(3), mayBe(ms), error), { maxLength: 3 }),
    paused: fc.boolean(),
    who: mayBe(fc.constantFrom("local", "ada", "")),
    note: error,
    decision: fc.constantFrom(null, KEPT),
  })
  .map(({ waiting, paused, who, note, decision: inForce, ...overview }) => {
    const models = waiting.map(([name, queued, retryAtMs, lastError]) =>
      modelStatus(name, queued, { retryAtMs, lastError }),
    );
    const held = who === null ? null : { ...pause, who, note };
    return facts(overview, models, { paused, pause: held, decision: inForce });
  });
