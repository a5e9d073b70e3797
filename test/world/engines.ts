// The driver that one router sees: slow loads, failed loads, hangs, deaths and lies, all drawn from the day's seed by
// what is done (this load, this attempt of this job), so that one change elsewhere does not reshuffle every fate.

import { createHash } from "node:crypto";
import {
  type Backend,
  type Call,
  type Instance,
  LoadError,
  type Outcome,
  type Placement,
  type Sink,
} from "../../src/backends/backend.ts";
import { type Clock, sleepUntil } from "../../src/domain/clock.ts";
import { createSeeded, type Seeded } from "../../src/simulator/seeded.ts";
import { RUN_FAULTS, type RunFault } from "./facts.ts";
import type { Hardware } from "./hardware.ts";
import type { Mortal } from "./mortal.ts";

const JSON_HEADERS = { "content-type": "application/json" };

export function createWorldEngines(hardware: Hardware, clock: Clock, seed: number, router: Mortal): Backend {
  return {
    can: { loads: true, knowsMemory: true },
    start: (placement, _report, signal) => start(hardware, clock, seed, placement, signal),
    stop: async (instance, _graceMs, signal) => {
      const { resident } = hardware;
      if (resident === null || resident.endpoint !== instance.endpoint) return { memory: "free" };
      const facts = hardware.facts(resident.model);
      const fate = createSeeded(seed).fork(`stop ${hardware.loads} ${clock.nowMs()}`);
      await sleepUntil(clock, clock.nowMs() + facts.unloadMs, signal);
      if (signal.aborted) throw new LoadError("the stop was given up");
      if (hardware.stormy && resident.alive && fate.chance(0.02)) throw new LoadError("it does not stop");
      for (const call of [...hardware.calls]) {
        if (call.model === resident.model && call.abortedAtMs === null)
          hardware.violate(`${call.model} is stopped while it answers`);
      }
      if (hardware.resident === resident) hardware.resident = null;
      return { memory: fate.chance(0.9) ? "free" : "unknown" };
    },
    run: (instance, call, sink, signal) => run({ hardware, clock, seed, router }, instance, call, sink, signal),
    alive: async (instance) => hardware.resident?.endpoint === instance.endpoint && hardware.resident.alive,
    inspect: async () => {
      const { resident } = hardware;
      if (resident?.alive !== true) return [];
      const { instance, model, device, endpoint, epoch } = resident;
      return [{ instance, model, device, endpoint, epoch }];
    },
    logs: async () => ["engine: started"],
    close: async () => {},
  };
}

async function start(
  hardware: Hardware,
  clock: Clock,
  seed: number,
  placement: Placement,
  signal: AbortSignal,
): Promise<{ endpoint: string }> {
  hardware.beginLoad(placement);
  const facts = hardware.facts(placement.model);
  const fate = createSeeded(seed).fork(`load ${hardware.loads} ${placement.model}`);
  const { stormy } = hardware;
  const nowMs = clock.nowMs();
  const tookMs = stormy ? fate.logNormal(facts.loadMs, 0.4) : facts.loadMs;
  const dayMs = hardware.sinceStartMs();
  const broken = facts.broken !== null && dayMs >= facts.broken[0] && dayMs < facts.broken[1];
  const hangs = stormy && fate.chance(facts.hangLoad);
  const fails = stormy && (broken || fate.chance(facts.failLoad));
  await sleepUntil(clock, hangs ? Number.MAX_SAFE_INTEGER : nowMs + tookMs * (fails ? 0.3 : 1), signal);
  if (signal.aborted) {
    await sleepUntil(clock, clock.nowMs() + 100);
    hardware.endLoad(placement, false);
    throw new LoadError("the start was aborted");
  }
  const resident = hardware.endLoad(placement, !fails);
  if (resident === null) throw new LoadError("exited with code 1", ["out of memory"]);
  return { endpoint: resident.endpoint };
}

interface Machine {
  readonly hardware: Hardware;
  readonly clock: Clock;
  readonly seed: number;
  readonly router: Mortal;
}

async function run(
  machine: Machine,
  instance: Instance,
  call: Call,
  sink: Sink,
  signal: AbortSignal,
): Promise<Outcome> {
  const { hardware, clock, seed, router } = machine;
  const { tag, bytes } = await readTag(call);
  // It died while it read the body: nothing was sent.
  if (router.dead) return router.lasting(Promise.resolve({ kind: "aborted" }));
  if (hardware.resident?.endpoint !== instance.endpoint || !hardware.resident.alive) {
    return { kind: "lost", detail: "connection refused" };
  }
  hardware.checkBody(tag, bytes);
  const live = hardware.beginCall(tag, instance.model);
  const stop = (): void => {
    live.abortedAtMs ??= clock.nowMs();
  };
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  const attempt = hardware.callCounts.get(tag) ?? 0;
  const fate = createSeeded(seed).fork(`run ${tag} ${attempt}`);
  const outcome = await attemptOf(machine, instance, call, sink, signal, fate, `${tag} ${attempt}`);
  hardware.calls.delete(live);
  return outcome;
}

async function attemptOf(
  machine: Machine,
  instance: Instance,
  call: Call,
  sink: Sink,
  signal: AbortSignal,
  fate: Seeded,
  name: string,
): Promise<Outcome> {
  const { hardware, clock } = machine;
  const facts = hardware.facts(instance.model);
  const fault = hardware.stormy ? drawFault(fate, facts.runFaults) : null;
  const startMs = clock.nowMs();
  const runMs = Math.min(fate.logNormal(facts.runMs, 0.7), 300_000);
  const dead = (): boolean => hardware.resident?.endpoint !== instance.endpoint || !hardware.resident.alive;
  const pause = async (untilMs: number): Promise<Outcome | null> => {
    const limitMs = startMs + Math.min(call.firstByteTimeoutMs, call.runTimeoutMs);
    await sleepUntil(clock, Math.min(untilMs, limitMs), signal);
    if (signal.aborted) {
      if (fault === "deaf") await sleepUntil(clock, clock.nowMs() + fate.uniform(0, 20_000));
      return { kind: "aborted" };
    }
    if (untilMs > limitMs) return { kind: "failed", code: "execution_timeout", detail: "no answer in time" };
    return null;
  };
  const first = await pause(startMs + (fault === "hang" ? Number.MAX_SAFE_INTEGER / 2 : runMs * 0.2));
  if (first !== null) return first;
  if (dead()) return { kind: "lost", detail: "connection reset" };
  const early = earlyFault(fault);
  if (early !== null) return early;
  if (fault === "refuse") return refuse(hardware, sink, name);
  const answer = answerOf(name, call.stream);
  sink.head({ status: 200, headers: call.stream ? { "content-type": "text/event-stream" } : JSON_HEADERS });
  const half = answer.byteLength >> 1;
  await sink.chunk(answer.subarray(0, half));
  const rest = await pause(startMs + runMs);
  if (rest !== null) return rest;
  if (fault === "die" && hardware.resident?.endpoint === instance.endpoint) hardware.resident.alive = false;
  if (dead()) return { kind: "failed", code: "backend_error", detail: "the body was cut" };
  if (fault === "garbage") return { kind: "failed", code: "backend_error", detail: "the answer has no end" };
  await sink.chunk(answer.subarray(half));
  hardware.answers.set(name, answer);
  return { kind: "succeeded" };
}

function earlyFault(fault: RunFault | null): Outcome | null {
  if (fault === "lost") return { kind: "lost", detail: "connection reset" };
  if (fault === "busy") return { kind: "busy", retryAfterMs: 2_000, detail: "engine answered 429" };
  if (fault === "error") return { kind: "failed", code: "backend_error", detail: "engine answered 500" };
  return null;
}

async function refuse(hardware: Hardware, sink: Sink, name: string): Promise<Outcome> {
  const bytes = Buffer.from(JSON.stringify({ error: { message: `refused ${name}`, type: "invalid_request_error" } }));
  sink.head({ status: 400, headers: JSON_HEADERS });
  await sink.chunk(bytes);
  hardware.answers.set(name, bytes);
  return { kind: "refused" };
}

function drawFault(fate: Seeded, shares: Readonly<Record<RunFault, number>>): RunFault | null {
  let left = fate.uniform(0, 1);
  for (const fault of RUN_FAULTS) {
    left -= shares[fault];
    if (left < 0) return fault;
  }
  return null;
}

function answerOf(name: string, stream: boolean): Uint8Array {
  const text = createHash("sha256").update(name).digest("hex");
  return Buffer.from(stream ? `data: {"answer":"${text}"}\n\ndata: [DONE]\n\n` : `{"answer":"${text}"}`);
}

/** The tag is the first string in the body after the model: `{"model":"…","user":"TAG",…`. */
async function readTag(call: Call): Promise<{ tag: string; bytes: Uint8Array }> {
  const parts: Uint8Array[] = [];
  for await (const part of call.body()) parts.push(part);
  const bytes = Buffer.concat(parts);
  const tag = /"user":"([^"]+)"/.exec(bytes.toString("utf8"))?.[1] ?? "";
  return { tag, bytes };
}
