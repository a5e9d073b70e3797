// What a device does, why, and what comes next, each in a sentence: the first thing that an operator reads.

import type { DeviceNextWire, DeviceSummaryWire } from "../client/wire-status.ts";
import type { LabelOf } from "../domain/life.ts";
import type { DeviceStatus, ModelStatus } from "../engine/control.ts";
import type { DeviceOverview, MoveOverview } from "../engine/overview.ts";
import { duration, jobs, jobsWait, listed, quantity } from "../scheduler/wording.ts";
import { errorLine, quoted } from "./causes.ts";
import { aboutWords } from "./expectation.ts";
import { boundTime, timeOfDay } from "./time-of-day.ts";

export interface DeviceFacts {
  readonly device: DeviceStatus;
  readonly overview: DeviceOverview;
  /** All models; those of this device are picked. */
  readonly models: readonly ModelStatus[];
  /** Router time, and the wall clock at that moment. */
  readonly nowMs: number;
  readonly wallMs: number;
}

interface What {
  readonly code: string;
  readonly text: string;
  /** The decision in force says nothing more than this. */
  readonly whole?: boolean;
}

/** A load that takes so much longer than its median is said to. */
const OVERDUE = 1.2;

/** @returns What it does first, up to `what_length`, then why. */
export function deviceSummary(facts: DeviceFacts, label: LabelOf): DeviceSummaryWire {
  const what = whatOf(facts, label);
  const { decision } = facts.device;
  const broken = brokenWords(facts, label);
  // What cannot be loaded is named with its error and its next try.
  const told = decision?.reason === "back_off" && broken !== "";
  const silent = what.whole === true || decision === null || saysNoMore(decision.reason) || told;
  const why = silent ? "" : decision.sentence;
  const text = [what.text, why, broken].filter((each) => each !== "").join(" ");
  return { text, what_length: what.text.length, code: what.code, decision: decision?.id ?? null };
}

/** Reasons that only name what the device does. */
function saysNoMore(reason: string): boolean {
  return ["no_work", "serving", "loading", "draining", "unloading", "blocked"].includes(reason);
}

function whatOf(facts: DeviceFacts, label: LabelOf): What {
  const { device, overview } = facts;
  if (device.paused) return { code: "paused", text: pausedWords(facts, label), whole: true };
  if (overview.move !== null) return movingWords(overview.move, facts, label);
  if (overview.blocked !== null) return { code: "blocked", text: blockedWords(overview.blocked, facts), whole: true };
  if (overview.tenants.length === 0) return emptyWords(facts);
  return servingWords(facts, label);
}

function pausedWords({ nowMs, wallMs, models, device, overview }: DeviceFacts, label: LabelOf): string {
  const { pause } = device;
  if (pause === null) return "Nothing is started: the router is going down.";
  const who = pause.who === "local" || pause.who === "" ? "an operator" : pause.who;
  const since = ` since ${timeOfDay(wallMs + pause.fromMs - nowMs, wallMs)}`;
  const note = quoted(pause.note);
  const running = overview.tenants.reduce((sum, each) => sum + each.running, 0);
  const still =
    running > 0
      ? ` ${quantity(running, "job")} of ${loadedWords(overview, label)} still ${running === 1 ? "runs" : "run"}.`
      : "";
  const waiting = waitingHere(models, device);
  const wait = waiting > 0 ? ` ${jobsWait(waiting)}.` : "";
  return `Paused by ${who}${since}${note === "" ? "." : `: "${note}".`}${still}${wait}`;
}

function movingWords(move: MoveOverview, facts: DeviceFacts, label: LabelOf): What {
  const { load, evict, phase } = move;
  const out = evict.length === 0 ? "a model" : listed(evict.map(label));
  if (load === null) {
    const text = phase === "draining" ? `Draining ${out}: ${finishingWords(move)}.` : `Unloading ${out}.`;
    return { code: phase, text };
  }
  const name = label(load);
  if (phase === "draining") return { code: phase, text: `Making room for ${name}: ${finishingWords(move)}.` };
  if (phase === "unloading")
    return { code: phase, text: `Making room for ${name}: ${out} ${evict.length > 1 ? "are" : "is"} stopping.` };
  return { code: phase, text: loadingWords(name, move, facts) };
}

/** `3 running jobs are finishing, the longest since 41 s`. */
function finishingWords({ running, oldestRunMs }: MoveOverview): string {
  if (running === 0) return "what ran has finished";
  const noun = running === 1 ? "running job is" : "running jobs are";
  const since =
    oldestRunMs === null
      ? ""
      : running === 1
        ? `, for ${duration(oldestRunMs)} now`
        : `, the longest for ${duration(oldestRunMs)} now`;
  return `${running}\u00a0${noun} finishing${since}`;
}

function loadingWords(
  name: string,
  { load, phaseSinceMs, loadMs, progress }: MoveOverview,
  facts: DeviceFacts,
): string {
  const { nowMs, models } = facts;
  const elapsed = duration(nowMs - phaseSinceMs);
  const usual = usualWords(nowMs - phaseSinceMs, loadMs);
  const far =
    progress === null || progress <= 0 ? "" : `, ${Math.min(99, Math.round(progress * 100))}\u00a0% by its engine`;
  const waiting = queuedOf(models.find(({ spec }) => spec.name === load));
  return `Loading ${name}: ${elapsed}${usual}${far}.${waiting > 0 ? ` ${jobsWait(waiting)} for it.` : ""}`;
}

/** ` of about 1 m`, or `, longer than the usual 1 m`. */
function usualWords(elapsedMs: number, loadMs: number | null): string {
  if (loadMs === null || loadMs <= 0) return "";
  return elapsedMs > loadMs * OVERDUE ? `, longer than the usual ${duration(loadMs)}` : ` of about ${duration(loadMs)}`;
}

function blockedWords(
  { untilMs, detail }: { untilMs: number; detail: string },
  { nowMs, wallMs }: DeviceFacts,
): string {
  const words = errorLine(detail);
  const why = words === "" ? "the memory of a model did not come back" : words;
  return `Blocked: ${why}. Retrying at ${timeOfDay(wallMs + untilMs - nowMs, wallMs)}.`;
}

function emptyWords({ models, device }: DeviceFacts): What {
  const waiting = waitingHere(models, device);
  if (waiting > 0) return { code: "empty", text: `Nothing is loaded, and ${jobsWait(waiting)}.` };
  return { code: "empty", text: "Idle. Nothing is loaded and nothing is waiting.", whole: true };
}

function servingWords(facts: DeviceFacts, label: LabelOf): What {
  const { overview, models, device } = facts;
  const busy = overview.tenants.reduce((sum, each) => sum + each.running, 0);
  const waiting = waitingHere(models, device);
  const names = loadedWords(overview, label);
  if (busy === 0) {
    const are = overview.tenants.length === 1 ? "is" : "are";
    if (waiting === 0)
      return { code: "idle", text: `Idle. ${names} ${are} loaded and nothing is waiting.`, whole: true };
    return { code: "idle", text: `Idle. ${names} ${are} loaded, and ${jobsWait(waiting)}.` };
  }
  const slots = overview.tenants.reduce((sum, each) => sum + each.slots, 0);
  const own = models.filter(({ spec }) => overview.tenants.some(({ model }) => model === spec.name));
  const queued = own.reduce((sum, each) => sum + queuedOf(each), 0);
  const line = `${queued > 0 ? jobs(queued) : "none"} queued for ${overview.tenants.length > 1 ? "them" : "it"}`;
  return { code: "serving", text: `Serving ${names}: ${busy} of ${quantity(slots, "slot")} busy, ${line}.` };
}

function loadedWords({ tenants }: DeviceOverview, label: LabelOf): string {
  return listed(tenants.map(({ model }) => label(model)));
}

/** Models that wait here and failed to load, one sentence for the first of them. */
function brokenWords({ models, device, nowMs, wallMs }: DeviceFacts, label: LabelOf): string {
  const broken = models.filter((each) => isHeldOff(each) && livesHere(each, device) && queuedOf(each) > 0);
  const [first] = broken;
  if (first === undefined) return "";
  const failed = first.retryAtMs !== null;
  const error = failed ? errorLine(first.lastError) : "";
  const retryAtMs = first.retryAtMs ?? first.wait?.detail?.retryAtMs ?? nowMs;
  const at = retryAtMs > nowMs ? `, next try at ${timeOfDay(wallMs + retryAtMs - nowMs, wallMs)}` : "";
  const others = broken.length - 1;
  const waits = others === 1 ? "One more model waits" : `${others}\u00a0more models wait`;
  const more = others > 0 ? ` ${waits} for the next try.` : "";
  const name = label(first.spec.name);
  const what = failed ? `${name} cannot be loaded` : `The engine of ${name} went away or was busy`;
  return `${what}${error === "" ? "" : ` (${error})`}${at}; ${jobsWait(queuedOf(first))} for it.${more}`;
}

/** Its load failed, or its engine went away and nothing of it is started yet. */
function isHeldOff({ retryAtMs, wait }: ModelStatus): boolean {
  return retryAtMs !== null || wait?.cause === "model_broken";
}

function waitingHere(models: readonly ModelStatus[], device: DeviceStatus): number {
  return models.reduce((sum, each) => sum + (livesHere(each, device) ? queuedOf(each) : 0), 0);
}

function livesHere({ spec }: ModelStatus, { device }: DeviceStatus): boolean {
  return spec.devices.includes(device);
}

function queuedOf(model: ModelStatus | undefined): number {
  if (model === undefined) return 0;
  const { interactive, normal, batch } = model.queued;
  return interactive + normal + batch;
}

/** What is expected next; null: nothing is. Instants are Unix seconds, by the wall clock of now. */
export function deviceNext({ overview, nowMs, wallMs }: DeviceFacts, label: LabelOf): DeviceNextWire | null {
  const { next } = overview;
  if (next === null) return null;
  const wall = (atMs: number | null): number | null => (atMs === null ? null : Math.round(wallMs + atMs - nowMs));
  const [low, mid, high, bound] = [next.lowAtMs, next.midAtMs, next.highAtMs, next.boundAtMs].map(wall);
  const when = mid == null ? "" : ` ${aboutWords(low ?? null, mid, high ?? null, wallMs)}`;
  const latest = bound == null ? "" : `; at the latest ${boundTime(bound, wallMs)}, with every drain at its longest`;
  const seconds = (at: number | null | undefined): number | null => (at == null ? null : at / 1_000);
  return {
    model: next.model,
    ...{ low: seconds(low), mid: seconds(mid), high: seconds(high), bound: seconds(bound) },
    text: `Next: ${label(next.model)}${when}${latest}.`,
  };
}
